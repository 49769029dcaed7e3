import Model

extension Configuration {
    /// A `route PATTERN[:port] { … }`; the first that matches a request decides.
    public struct Route: Sendable, Equatable {
        public enum Action: String, Sendable {
            /// Forward a request; relay a CONNECT unseen.
            case tunnel
            /// Forward a request; intercept a CONNECT.
            case intercept
            /// Respond with 403.
            case deny
        }

        /// The port for an `http:` request that is made with https.
        public enum Upgrade: Sendable, Equatable {
            /// Port 443 for 80; any other port stays.
            case standard
            case port(UInt16)

            public func port(from port: UInt16) -> UInt16 {
                switch self {
                case .standard: port == 80 ? 443 : port
                case .port(let port): port
                }
            }
        }

        /// The sides with which HTTP/2 may be spoken.
        public enum HTTP2: String, Sendable, CaseIterable {
            case yes
            case no
            /// Allowed for clients in an intercepted tunnel alone.
            case clients
            /// Allowed for origins and for tunnels through parents alone.
            case origins
            /// Allowed for both sides, and spoken with origins without TLS, which are known to speak it (RFC 9113
            /// section 3.3).
            case priorKnowledge = "prior-knowledge"

            public var isForClients: Bool { self != .no && self != .origins }
            public var isForOrigins: Bool { self != .no && self != .clients }
        }

        /// The requests of a `route` that belong to a trace (W3C Trace Context).
        public enum Trace: String, Sendable, CaseIterable {
            /// No request: `traceparent` is a field like others.
            case no
            /// The requests that bring a trace.
            case `continue`
            /// Every request: one without a trace begins one.
            case start
        }

        public let host: HostPattern
        /// The port; nil for every port.
        public let port: UInt16?
        public let action: Action
        /// The port of upgraded requests; nil if `http:` stays `http:`. It is valid with `tunnel` and `intercept`: in
        /// an intercepted tunnel, requests in clear are upgraded too.
        public let upgrade: Upgrade?
        /// Whether gzip and deflate bodies are decoded for clients that did not ask for them.
        public let decodesContent: Bool
        /// The TLS terms; nil if the route sets none.
        public let tls: TLSTerms?
        public let trace: Trace
        public var http2 = HTTP2.yes
        /// The parents; nil if the origin is connected to directly.
        public internal(set) var parentList: ParentList?
        public let rule: RuleReference
    }

    /// The parents that a route's requests go through (`via`). Immutable and shared.
    public final class ParentList: Sendable, Equatable {
        public enum RouteHop: Sendable, Equatable {
            case parent(Configuration.Parent)
            /// A direct connection, if the entries before it do not work.
            case direct
        }

        /// The hops, of which the first that works is used; never empty.
        public let hops: [RouteHop]

        public init(_ hops: [RouteHop]) {
            self.hops = hops
        }

        public static func == (left: Configuration.ParentList, right: Configuration.ParentList) -> Bool {
            left === right || left.hops == right.hops
        }

        /// Whether a PAC file determines some of the paths.
        public var isAutomatic: Bool {
            hops.contains { hop in
                if case .parent(let parent) = hop { parent.automatic != nil } else { false }
            }
        }

        /// A path to a host that the rule file itself determines.
        public enum Leg: Sendable, Equatable {
            case direct
            case server(Configuration.Parent.Server, of: String)
        }

        /// The paths to a host, of which the first that works is used. Empty for a direct connection, because the first
        /// parent excepts the host.
        public func legs(to host: Span<UInt8>) -> [Leg] {
            var legs: [Leg] = []
            for hop in hops {
                guard case .parent(let parent) = hop, !parent.excepts(host) else {
                    // A host that is connected to directly needs no other path.
                    return legs.isEmpty ? [] : legs + [.direct]
                }
                legs += parent.servers.map { .server($0, of: parent.name) }
            }
            return legs
        }

        /// The names in the rule file.
        var words: String {
            hops.map { hop in
                switch hop {
                case .parent(let parent): parent.name
                case .direct: "direct"
                }
            }.joined(separator: " ")
        }
    }

    /// The terms of TLS with a route's origins (`tls`). Immutable and shared: connections treat equal terms as the
    /// same.
    public final class TLSTerms: Sendable, Hashable {
        /// The oldest TLS version allowed; nil for the default, 1.2.
        public let minimum: TLSVersion?
        /// The newest version that may be spoken; nil: the newest there is, 1.3.
        public let maximum: TLSVersion?
        /// The files with certificate revocation lists, PEM or DER, for the certificates of a chain.
        public let revocation: [String]

        public init(minimum: TLSVersion? = nil, maximum: TLSVersion? = nil, revocation: [String] = []) {
            self.minimum = minimum
            self.maximum = maximum
            self.revocation = revocation
        }

        /// The versions that may be spoken without any terms.
        public static let defaultVersions = TLSVersion.v12...TLSVersion.v13

        /// The versions that may be spoken.
        public var versions: ClosedRange<TLSVersion> {
            let least = minimum ?? Self.defaultVersions.lowerBound
            return least...max(least, maximum ?? Self.defaultVersions.upperBound)
        }

        public static func == (left: Configuration.TLSTerms, right: Configuration.TLSTerms) -> Bool {
            left === right || left.versions == right.versions && left.revocation == right.revocation
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(versions)
            hasher.combine(revocation)
        }
    }
}
