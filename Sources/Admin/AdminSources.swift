import HTTP

/// What the administrator's listener asks the rest of the program for.
///
/// The closures are called on the listener's loop, once per request, and must not block.
public struct AdminSources: Sendable {
    /// Whether the proxy takes work: what `/readyz` says.
    public enum Readiness: Sendable, Equatable {
        case ready
        /// It works, but not all of what it relies on does: to take it out of service would make that worse.
        case degraded(reason: String)
        /// The reason is one sentence that an operator understands.
        case notReady(reason: String)
    }

    /// The program's version, as `attache version` prints it.
    public let version: String
    /// What stands in `Via` of requests that came through the proxy; nil where there is none.
    public let via: Via?
    public let readiness: @Sendable () -> Readiness
    /// Prometheus' text format 0.0.4.
    public let metrics: @Sendable () -> String

    public init(
        version: String, via: Via? = nil, readiness: @escaping @Sendable () -> Readiness,
        metrics: @escaping @Sendable () -> String
    ) {
        self.version = version
        self.via = via
        self.readiness = readiness
        self.metrics = metrics
    }
}
