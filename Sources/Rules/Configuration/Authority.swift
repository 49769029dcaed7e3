import Bytes
import Model

extension Configuration {
    /// `authority { … }`: who issues the certificates that intercepted clients are shown. Said or not, there is one; the
    /// default is made in `state` on first start.
    public struct Authority: Sendable, Equatable {
        /// A certificate and key of one's own, both or neither. PEM; read again when they change.
        public struct Files: Sendable, Equatable {
            public let certificate: String
            public let key: String
            /// Nil: the key is not encrypted.
            public let passphrase: ValueSource?
        }

        /// A name that the authority may issue for (RFC 5280 section 4.2.1.10).
        public enum Name: Hashable, Sendable, CustomStringConvertible {
            /// `corp.example.com` and every name below it, in lower case. `*.corp.example.com` leaves the name itself
            /// out.
            case domain(String, withItself: Bool)
            case addresses(AddressPrefix)

            public var description: String {
                switch self {
                case .domain(let name, let withItself): (withItself ? "" : "*.") + name
                case .addresses(let prefix): prefix.description
                }
            }
        }

        public var files: Files?
        /// Empty: any name. An authority that is made here carries them as its name constraints.
        public var names: [Name] = []

        public init() {}
    }
}

extension Configuration.Authority {
    /// Whether the authority issues for a host, as a request names it. Where it does not, a client would refuse what it
    /// is shown.
    public func permits(_ host: Span<UInt8>) -> Bool {
        names.isEmpty
            || HostPattern.withName(of: host) { name in
                names.contains { $0.patterns.contains { $0.matches(name) } }
            }
    }

    /// Whether it issues for any host of a pattern; it may say yes where the answer is no.
    func mayPermit(_ pattern: HostPattern) -> Bool {
        names.isEmpty
            || names.contains { name in
                name.patterns.contains { $0.mayOverlap(pattern) }
            }
    }
}

extension Configuration.Authority.Name {
    fileprivate var patterns: [HostPattern] {
        switch self {
        case .domain(let name, let withItself):
            let below = HostPattern(.suffix([UInt8(ascii: ".")] + name.utf8))
            return withItself ? [HostPattern(.exact(Array(name.utf8))), below] : [below]
        case .addresses(let prefix): return [HostPattern(.addresses(prefix))]
        }
    }
}
