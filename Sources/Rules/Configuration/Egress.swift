import Model

extension Configuration {
    /// The addresses that the proxy may connect to. The narrowest entry that matches an address decides; see
    /// `EgressPolicy`.
    public struct Egress: Sendable, Equatable {
        public enum Verdict: String, Sendable {
            case allow
            case deny
        }

        /// One item of an `allow` or `deny` line.
        public struct Entry: Sendable, Equatable {
            public let verdict: Verdict
            /// The blocks of the item: several for a class.
            public let prefixes: [AddressPrefix]
            /// The class of addresses; nil if the item is an address or a block.
            public let addressClass: AddressClass?
            /// The port; nil for every port.
            public let port: UInt16?
            /// The item as written.
            public let text: String
            public let rule: RuleReference
        }

        public var entries: [Entry] = []
        /// The ports that `CONNECT` may name. A tunnel to any port would let a client speak any protocol to any server.
        public var connectPorts = PortSet(ranges: [443...443])
    }
}
