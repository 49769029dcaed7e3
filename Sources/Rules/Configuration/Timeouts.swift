extension Configuration {
    public struct Timeouts: Sendable, Equatable {
        /// From a request's first byte to the end of its head.
        public var head = Duration.seconds(10)
        /// A kept connection without a request, a body or a tunnel without a byte.
        public var idle = Duration.seconds(60)
        /// A name to a connected socket, over all of its addresses.
        public var connect = Duration.seconds(10)
        /// From the end of a request to the head of its response.
        public var response = Duration.seconds(300)
        /// What a stop waits for requests in flight.
        public var drain = Duration.seconds(30)

        /// What a client's session outlives without a request.
        public var session = Duration.seconds(900)

        public init() {}
    }
}
