extension Configuration {
    /// What a peer may not exceed. Sizes are bytes.
    public struct Limits: Sendable, Equatable {
        /// A request body held in memory until the origin's answer is known.
        public var replayMemory = 64 << 10
        /// The same on disk, once memory is full.
        public var replayDisk = 64 << 20
        /// The same on disk, of all bodies together.
        public var replayDiskTotal = 1 << 30
        /// The start line of a message.
        public var startLine = 16 << 10
        /// A client's whole head.
        public var head = 64 << 10
        /// An origin's whole head: larger, since a Kerberos ticket is.
        public var upstreamHead = 256 << 10
        /// Field lines in a head.
        public var fields = 128
        /// Client connections at once.
        public var clients = 10_000
        /// The same from one address; nil: a quarter of those that are served.
        public var clientsPerAddress: Int?
        /// Decoded bytes for each encoded one, over a whole body.
        public var decodeRatio = 100

        public init() {}
    }
}
