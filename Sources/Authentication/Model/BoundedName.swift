import Bytes
import Crypto

/// The names that a server or a client chooses, as they are remembered: a name of any length takes no more than `limit` bytes.
enum BoundedName {
    /// Bytes.
    static let limit = 1024
    /// Bytes of a longer name that are kept in front of its digest.
    private static let kept = 256

    /// The name; of a longer one its beginning and its SHA-256, which is equal for equal names alone.
    static func of(_ name: String) -> String {
        let bytes = name.utf8
        if bytes.count <= limit { return name }
        var end = bytes.index(bytes.startIndex, offsetBy: kept)
        while end.samePosition(in: name.unicodeScalars) == nil { end = bytes.index(before: end) }
        let digest = MessageDigest.digest(.sha256, of: name.utf8Span.span).withHexadecimal { $0.text }
        return "\(name[..<end])… (SHA-256 \(digest))"
    }
}
