extension Configuration {
    /// `parent NAME { … }`: proxies that requests may go through, the first that works first.
    public struct Parent: Sendable, Equatable {
        /// The protocol that is spoken with a parent.
        public enum Scheme: String, Sendable, CaseIterable {
            case http
            case https
            /// RFC 1928, with RFC 1929 for a user and a password.
            case socks5
            /// With the host's name.
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
        /// In the order of the file. Empty when a PAC file says them.
        public let servers: [Server]
        /// The path of a PAC file.
        public let automatic: String?
        /// Those servers of a PAC file that a challenge may be answered for, whatever their scheme.
        public let trusted: [HostAndPort]
        /// Hosts that are asked directly.
        public let exceptions: [HostPattern]
        public let rule: RuleReference

        /// Whether a host, as a request names it, is asked directly.
        public func excepts(_ host: Span<UInt8>) -> Bool {
            for index in exceptions.indices where exceptions[index].matches(host) { return true }
            return false
        }
    }

    public struct HostAndPort: Sendable, Hashable, CustomStringConvertible {
        /// In its canonical spelling (`HostSpelling`).
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
