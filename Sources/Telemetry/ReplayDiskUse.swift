/// What the copies of bodies, which are kept for sending them again, have of `limits { replay-disk-total }`.
public struct ReplayDiskUse: Sendable {
    /// Bytes that are taken, announced ones that have not come yet among them.
    public let bytes: Int
    /// Bodies, since the start, for which there was too little left.
    public let refused: Int

    public init(bytes: Int, refused: Int) {
        self.bytes = bytes
        self.refused = refused
    }
}
