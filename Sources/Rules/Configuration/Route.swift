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
        /// Nil: the origin is asked directly.
        public internal(set) var detour: Detour?
        public let rule: RuleReference
    }
}
