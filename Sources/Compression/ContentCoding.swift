import Bytes

/// A content coding that can be undone (RFC 9110 section 8.4.1).
public enum ContentCoding: Sendable {
    /// RFC 1952, also under its old name `x-gzip`.
    case gzip
    /// RFC 1950. Some servers send the bare RFC 1951 under this name, which is accepted.
    case deflate

    /// Nil for a name that is unknown, and for a list: two codings are two decoders.
    public init?(name: Span<UInt8>) {
        if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
            self = .gzip
        } else if name.equalsIgnoringCase("deflate") {
            self = .deflate
        } else {
            return nil
        }
    }
}
