import Model

extension Configuration {
    /// The CA for intercepted clients, from `authority { … }`. Without this block one is created in `state` on first
    /// start.
    public struct Authority: Sendable, Equatable {
        /// A certificate and key of the user's own, both or neither. PEM; read again when they change.
        public struct Files: Sendable, Equatable {
            public let certificate: String
            public let key: String
            /// The passphrase of the key; nil if the key is not encrypted.
            public let passphrase: ValueSource?
        }

        /// A name that the CA may issue certificates for (RFC 5280 section 4.2.1.10).
        public enum Name: Hashable, Sendable, CustomStringConvertible {
            /// `corp.example.com` and every name below it, in lower case. With `*.corp.example.com` the name itself is
            /// excluded.
            case domain(String, withItself: Bool)
            case addresses(AddressPrefix)

            public var description: String {
                switch self {
                case .domain(let name, let withItself): (withItself ? "" : "*.") + name
                case .addresses(let prefix): prefix.description
                }
            }

            fileprivate var patterns: [HostPattern] {
                switch self {
                case .domain(let name, let withItself):
                    let below = HostPattern(.suffix([UInt8(ascii: ".")] + name.utf8))
                    return withItself ? [HostPattern(.exact(Array(name.utf8))), below] : [below]
                case .addresses(let prefix): return [HostPattern(.addresses(prefix))]
                }
            }
        }

        public var files: Files?
        /// The names that the CA may issue for; empty for any name. A CA that is created here has them as its name
        /// constraints.
        public var names: [Name] = []

        public init() {}

        /// Whether the CA issues for a host, as a request names it. If not, a client would refuse the certificate.
        public func permits(_ host: Span<UInt8>) -> Bool {
            names.isEmpty
                || HostPattern.withName(of: host) { name in
                    names.contains { $0.patterns.contains { $0.matches(name) } }
                }
        }

        /// Whether the CA issues for any host of a pattern. May return true in error.
        func mayPermit(_ pattern: HostPattern) -> Bool {
            names.isEmpty || names.contains { $0.patterns.contains { $0.mayOverlap(pattern) } }
        }
    }
}
