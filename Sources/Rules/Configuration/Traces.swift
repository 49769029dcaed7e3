import Model

extension Configuration {
    /// A collector of spans by OTLP over HTTP, in JSON (`traces { … }`).
    public struct Traces: Sendable, Equatable {
        /// A field of each request to the collector.
        public struct Header: Sendable, Equatable {
            public let name: String
            public let value: ValueSource
        }

        public let collector: HTTPEndpoint
        /// The name of this program at the collector.
        public var serviceName = "attache"
        /// The percentage of the traces begun here that is recorded.
        public var sample = 100
        public var headers: [Header] = []

        init(collector: HTTPEndpoint) { self.collector = collector }
    }
}
