import Model

extension Configuration {
    /// The proxies of a `parent NAME { … }` that requests may go through; the first that works is used.
    public struct Parent: Sendable, Equatable {
        /// The protocol that a parent speaks.
        public enum Scheme: String, Sendable, CaseIterable {
            case http
            case https
            /// SOCKS5 (RFC 1928), with RFC 1929 for a user and a password.
            case socks5
            /// SOCKS4a: SOCKS4 with the host's name.
            case socks4a
        }

        public struct Server: Sendable, Hashable {
            public let scheme: Scheme
            public let address: HostAndPort

            public init(scheme: Scheme, address: HostAndPort) {
                self.scheme = scheme
                self.address = address
            }
        }

        public let name: String
        /// The servers in the order of the file. Empty if a PAC file names them.
        public let servers: [Server]
        /// The path of a PAC file.
        public let automatic: String?
        /// The servers of a PAC file whose challenges may be answered, for any scheme.
        public let trusted: [HostAndPort]
        /// The hosts that are connected to directly.
        public let exceptions: [HostPattern]
        public let rule: RuleReference

        /// Whether a host, as a request names it, is connected to directly.
        public func excepts(_ host: Span<UInt8>) -> Bool {
            for index in exceptions.indices where exceptions[index].matches(host) { return true }
            return false
        }
    }

    public struct HostAndPort: Sendable, Hashable, CustomStringConvertible {
        /// The host in its canonical spelling (`HostSpelling`).
        public let host: String
        public let port: UInt16

        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }

        public var description: String {
            host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}
