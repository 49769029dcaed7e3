import Bytes
import Crypto

/// One line of a tokens file.
enum TokensFileLine {
    case empty
    case token(String, digest: DigestValue)
    case refused(UsersFileProblem.Reason)

    init(_ bytes: ArraySlice<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self = .refused(.notText)
            return
        }
        let line = text.withoutBlanksAtEnd
        if line.isEmpty || line.hasPrefix("#") {
            self = .empty
            return
        }
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
            let bytes = Hex.decode(line[line.index(after: colon)...]), bytes.count == DigestAlgorithm.sha256.length,
            let digest = DigestValue(bytes)
        else {
            self = .refused(.noToken)
            return
        }
        let user = String(line[..<colon])
        let isBlank = user.first?.isListBlank == true || user.last?.isListBlank == true
        self = isBlank ? .refused(.blank) : .token(user, digest: digest)
    }
}
