import Bytes
import Crypto

/// The names that servers and clients choose, in the form in which they are kept: at most `limit` bytes each.
public enum BoundedName {
    /// The limit in bytes.
    static let limit = 1024
    /// The bytes of a longer name that precede its digest.
    private static let kept = 256

    /// The name; of a longer one its beginning and its SHA-256, which differs for different names.
    public static func of(_ name: String) -> String {
        let bytes = name.utf8
        if bytes.count <= limit { return name }
        var end = bytes.index(bytes.startIndex, offsetBy: kept)
        while end.samePosition(in: name.unicodeScalars) == nil { end = bytes.index(before: end) }
        let digest = MessageDigest.digest(.sha256, of: name.utf8Span.span).withHexadecimal { $0.text }
        return "\(name[..<end])… (SHA-256 \(digest))"
    }
}
