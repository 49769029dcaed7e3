import Crypto

/// One line of a users file.
enum UsersFileLine {
    case empty
    case user(String, hash: String)
    case refused(UsersFileProblem.Reason)

    init(_ bytes: ArraySlice<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self = .refused(.notText)
            return
        }
        let line = text.hasSuffix("\r") ? text.dropLast() : text[...]
        if line.allSatisfy({ $0 == " " || $0 == "\t" }) || line.hasPrefix("#") {
            self = .empty
            return
        }
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
            self = .refused(.noUser)
            return
        }
        let hash = String(line[line.index(after: colon)...])
        if let reason = Self.reason(against: hash) {
            self = .refused(reason)
        } else {
            self = .user(String(line[..<colon]), hash: hash)
        }
    }

    private static func reason(against hash: String) -> UsersFileProblem.Reason? {
        if hash.hasPrefix("$apr1$") { return .weak("Apache's MD5") }
        if hash.hasPrefix("$1$") { return .weak("MD5") }
        if hash.hasPrefix("{SHA}") { return .weak("unsalted SHA-1") }
        if hash.contains(":") { return .htdigest }
        if PasswordHash.isSupported(hash) { return nil }
        return hash.hasPrefix("$") ? .unknownMethod : .weak("plain text or DES")
    }
}
