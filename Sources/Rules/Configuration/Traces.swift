import Model

extension Configuration {
    /// `traces { … }`: a collector of spans by OTLP over HTTP, in JSON.
    public struct Traces: Sendable, Equatable {
        /// A field of each request to the collector.
        public struct Header: Sendable, Equatable {
            public let name: String
            public let value: ValueSource
        }

        public let collector: HTTPEndpoint
        /// The name of this program among those that the collector knows.
        public var serviceName = "attache"
        /// Of a hundred traces that begin here, those that are recorded.
        public var sample = 100
        public var headers: [Header] = []

        init(collector: HTTPEndpoint) { self.collector = collector }
    }
}

extension Configuration.Route {
    /// `trace` in a `route`: the requests that belong to a trace (W3C Trace Context).
    public enum Trace: String, Sendable, CaseIterable {
        /// None: `traceparent` is a field like others.
        case no
        /// Those that come with one.
        case `continue`
        /// Every request: one that comes without begins one.
        case start
    }
}
