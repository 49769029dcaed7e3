/// The limits for the kept part of one body: in memory, beyond that on disk, and in total with all other bodies.
public struct ReplayRoom {
    public let memory: Int
    public let disk: Int
    /// The bytes that every body may keep. Bytes beyond them count towards the total.
    public let free: Int
    /// The bytes beyond `free` that all bodies together may keep.
    public let total: Int
    let spool: ReplaySpool

    public init(memory: Int, disk: Int, free: Int, total: Int, in spool: ReplaySpool) {
        self.memory = memory
        self.disk = disk
        self.free = free
        self.total = total
        self.spool = spool
    }

    public init(_ limits: Policy.Limits, in spool: ReplaySpool) {
        self.init(
            memory: limits.replayMemory, disk: limits.replayDisk, free: limits.replayMemory,
            total: limits.replayDiskTotal, in: spool)
    }

    /// Creates the room for a page that is read before it is passed on: memory only.
    public init(forPagesOf limit: Int, _ limits: Policy.Limits, in spool: ReplaySpool) {
        self.init(memory: limit, disk: 0, free: limits.replayMemory, total: limits.replayDiskTotal, in: spool)
    }

    /// The size of the largest body that could be kept, in bytes.
    public var largest: Int { min(memory + disk, free + total) }
}
