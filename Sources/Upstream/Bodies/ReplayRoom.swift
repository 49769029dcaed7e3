/// The limits for the kept part of one body: in memory, beyond that on disk, and in total with all other bodies.
public struct ReplayRoom {
    let memory: Int
    let disk: Int
    /// The bytes that every body may keep. Bytes beyond them count towards the total.
    let free: Int
    /// The bytes beyond `free` that all bodies together may keep.
    let total: Int
    let spool: ReplaySpool

    /// The size of the largest body that could be kept, in bytes.
    public var largest: Int { min(memory + disk, free + total) }
}

extension ReplayRoom {
    public init(_ limits: Policy.Limits, in spool: ReplaySpool) {
        self.init(
            memory: limits.replayMemory, disk: limits.replayDisk, free: limits.replayMemory,
            total: limits.replayDiskTotal, spool: spool)
    }

    /// Creates the room for a page that is read before it is passed on: memory only.
    public init(forPagesOf limit: Int, _ limits: Policy.Limits, in spool: ReplaySpool) {
        self.init(memory: limit, disk: 0, free: limits.replayMemory, total: limits.replayDiskTotal, spool: spool)
    }
}
