/// How much of one body may be kept: in memory, on disk beyond that, and there only beside what all others have.
public struct ReplayRoom {
    public let memory: Int
    public let disk: Int
    /// Bytes that every body may keep; what is beyond them is taken from the total.
    public let free: Int
    /// The bytes that all bodies together may keep beyond them.
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

    /// For a page that is read before it is passed on: in memory, whatever may be kept of requests.
    public init(forPagesOf limit: Int, _ limits: Policy.Limits, in spool: ReplaySpool) {
        self.init(memory: limit, disk: 0, free: limits.replayMemory, total: limits.replayDiskTotal, in: spool)
    }

    /// The largest body that could be kept.
    public var largest: Int { min(memory + disk, free + total) }
}
