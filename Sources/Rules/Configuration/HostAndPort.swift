extension Configuration {
    public struct HostAndPort: Sendable, Hashable, CustomStringConvertible {
        /// A name or an address, in lower case and without brackets.
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
