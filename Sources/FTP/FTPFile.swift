/// What a server says of a file; nil where it says nothing.
public struct FTPFile: Sendable, Equatable {
    /// Bytes, by SIZE (RFC 3659 section 4).
    public let size: Int?
    /// Seconds since 1970, by MDTM (RFC 3659 section 3).
    public let modified: Int?

    public init(size: Int?, modified: Int?) {
        self.size = size
        self.modified = modified
    }
}
