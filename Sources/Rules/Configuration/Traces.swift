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

extension Configuration.Route {
    /// The requests of a `route` that belong to a trace (W3C Trace Context).
    public enum Trace: String, Sendable, CaseIterable {
        /// No request: `traceparent` is a field like others.
        case no
        /// The requests that bring a trace.
        case `continue`
        /// Every request: one without a trace begins one.
        case start
    }
}
