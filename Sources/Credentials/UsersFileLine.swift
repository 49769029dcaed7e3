import Bytes
import Crypto

/// One line of a users file.
enum UsersFileLine {
    case empty
    /// As htpasswd and `attache password` write it.
    case user(String, hash: String)
    /// As htdigest and `attache password --digest` write it: the digest over user, realm and password (RFC 7616 section
    /// 3.4.2), which is all that Digest needs.
    case digest(String, realm: String, DigestAlgorithm, key: DigestValue)
    case refused(UsersFileProblem.Reason)

    init(_ bytes: ArraySlice<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self = .refused(.notText)
            return
        }
        // A blank behind the hash would be a part of it, and the line would match nothing.
        let line = text.withoutBlanksAtEnd
        if line.isEmpty || line.hasPrefix("#") {
            self = .empty
            return
        }
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
            self = .refused(.noUser)
            return
        }
        let user = String(line[..<colon])
        let rest = line[line.index(after: colon)...]
        if user.first?.isListBlank == true || user.last?.isListBlank == true || rest.first?.isListBlank == true {
            self = .refused(.blank)
        } else if let last = rest.lastIndex(of: ":") {
            self = Self.digest(user, realm: String(rest[..<last]), digits: rest[rest.index(after: last)...])
        } else if let reason = Self.reason(against: String(rest)) {
            self = .refused(reason)
        } else {
            self = .user(user, hash: String(rest))
        }
    }

    private static func digest(_ user: String, realm: String, digits: Substring) -> UsersFileLine {
        guard let bytes = Hex.decode(digits), let key = DigestValue(bytes) else { return .refused(.noDigest) }
        switch bytes.count {
        case DigestAlgorithm.md5.length: return .digest(user, realm: realm, .md5, key: key)
        case DigestAlgorithm.sha256.length: return .digest(user, realm: realm, .sha256, key: key)
        default: return .refused(.noDigest)
        }
    }

    private static func reason(against hash: String) -> UsersFileProblem.Reason? {
        if hash.hasPrefix("$1$") { return .weak("MD5") }
        if hash.hasPrefix("{SHA}") { return .weak("unsalted SHA-1") }
        if PasswordHash.isSupported(hash) { return PasswordHash.isAffordable(hash) ? nil : .costly }
        return hash.hasPrefix("$") ? .unknownMethod : .weak("plain text or DES")
    }
}
