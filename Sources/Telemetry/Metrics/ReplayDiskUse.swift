/// The use of `limits { replay-disk-total }` by copies of bodies, which are kept to be sent again.
public struct ReplayDiskUse: Sendable {
    /// The reserved bytes, including announced ones that have not arrived yet.
    public let bytes: Int
    /// The bodies, since the start, for which too little was left.
    public let refused: Int

    public init(bytes: Int, refused: Int) {
        self.bytes = bytes
        self.refused = refused
    }
}
