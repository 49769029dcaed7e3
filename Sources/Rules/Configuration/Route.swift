import Model

extension Configuration {
    /// `route PATTERN[:port] { … }`; the first that fits a request decides.
    public struct Route: Sendable, Equatable {
        public enum Action: String, Sendable {
            /// Forward a request; relay a CONNECT blindly.
            case tunnel
            /// Forward a request; look inside a CONNECT.
            case intercept
            /// Answer 403.
            case deny
        }

        /// The port on which an `http:` request is made by https.
        public enum Upgrade: Sendable, Equatable {
            /// 443 in the place of 80; any other port stays.
            case standard
            case port(UInt16)

            public func port(from port: UInt16) -> UInt16 {
                switch self {
                case .standard: port == 80 ? 443 : port
                case .port(let port): port
                }
            }
        }

        public let host: HostPattern
        /// Nil for every port.
        public let port: UInt16?
        public let action: Action
        /// Nil: `http:` stays `http:`. Goes with `tunnel` and `intercept`: in a tunnel that is looked into, what is
        /// spoken in clear is upgraded too.
        public let upgrade: Upgrade?
        /// Decode gzip and deflate bodies for clients that did not ask for them.
        public let decodesContent: Bool
        /// Nil: nothing is said of TLS.
        public let tls: TLSTerms?
        public let trace: Trace
        /// Nil: the origin is asked directly.
        public internal(set) var parentList: ParentList?
        public let rule: RuleReference
    }
}

/// `via` in a `route`: the parents that its requests go through. Immutable and shared.
public final class ParentList: Sendable, Equatable {
    public enum Hop: Sendable, Equatable {
        case parent(Configuration.Parent)
        /// Without a parent, when those before do not work.
        case direct
    }

    /// The first that works first; never empty.
    public let hops: [Hop]

    public init(_ hops: [Hop]) {
        self.hops = hops
    }

    public static func == (left: ParentList, right: ParentList) -> Bool { left === right || left.hops == right.hops }

    /// Whether a PAC file says some of its ways.
    public var isAutomatic: Bool {
        hops.contains { hop in
            if case .parent(let parent) = hop { parent.automatic != nil } else { false }
        }
    }

    /// A way to one host that the rule file itself says.
    public enum Leg: Sendable, Equatable {
        case direct
        case server(Configuration.Parent.Server, of: String)
    }

    /// The ways to a host, the first that works first. Empty: directly, since the first parent excepts it.
    public func legs(to host: Span<UInt8>) -> [Leg] {
        var legs: [Leg] = []
        for hop in hops {
            guard case .parent(let parent) = hop, !parent.excepts(host) else {
                // A host that is asked directly needs no other way.
                return legs.isEmpty ? [] : legs + [.direct]
            }
            legs += parent.servers.map { .server($0, of: parent.name) }
        }
        return legs
    }

    /// The names of the rule file.
    var words: String {
        hops.map { hop in
            switch hop {
            case .parent(let parent): parent.name
            case .direct: "direct"
            }
        }.joined(separator: " ")
    }
}

/// `tls` in a `route`: how TLS is spoken with its origins. Immutable and shared: connections made under equal terms are
/// the same to whoever keeps them.
public final class TLSTerms: Sendable, Hashable {
    /// The oldest version that may be spoken; nil: the default, 1.2.
    public let minimum: TLSVersion?
    /// The newest version that may be spoken; nil: the newest there is, 1.3.
    public let maximum: TLSVersion?
    /// Files with certificate revocation lists, PEM or DER, to look a chain's certificates up in.
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

    public static func == (left: TLSTerms, right: TLSTerms) -> Bool {
        left === right || left.versions == right.versions && left.revocation == right.revocation
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(versions)
        hasher.combine(revocation)
    }
}
