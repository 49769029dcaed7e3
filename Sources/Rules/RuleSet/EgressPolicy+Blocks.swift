extension EgressPolicy {
    /// The addresses that `egress` permits, as blocks with exceptions, for a packet filter in front of the proxy.
    ///
    /// A filter is never narrower than the rules: a `deny` with a port, and addresses that carry another one, are left
    /// to the proxy.
    public struct Blocks: Sendable {
        public struct Block: Sendable, Equatable {
            public let prefix: AddressPrefix
            /// The blocks inside that are not permitted, without those that lie in one another.
            public let exceptions: [AddressPrefix]
            /// The port; nil for every port.
            public let port: UInt16?
        }

        /// An entry for one prefix. The first of equal prefixes decides, in the order of `EgressPolicy`.
        private struct Item {
            let prefix: AddressPrefix
            let port: UInt16?
            let isAllowed: Bool
            /// 0: an address or a block; 1: a class; 2: refused by default; 3: permitted because no entry matches.
            let origin: Int

            /// Whether it decides about its addresses, though the other entry has the same prefix.
            func precedes(_ other: Item) -> Bool {
                let mine = [port == nil ? 1 : 0, origin, isAllowed ? 1 : 0]
                return mine.lexicographicallyPrecedes([
                    other.port == nil ? 1 : 0, other.origin, other.isAllowed ? 1 : 0,
                ])
            }
        }

        public let blocks: [Block]

        public init(_ egress: Configuration.Egress) {
            var items = egress.entries.flatMap { entry in
                entry.prefixes.map {
                    Item(
                        prefix: $0, port: entry.port, isAllowed: entry.verdict == .allow,
                        origin: entry.addressClass == nil ? 0 : 1)
                }
            }
            items += AddressClass.refused.flatMap(\.prefixes).map {
                Item(prefix: $0, port: nil, isAllowed: false, origin: 2)
            }
            items += AddressClass.any.prefixes.map { Item(prefix: $0, port: nil, isAllowed: true, origin: 3) }
            blocks = items.filter(\.isAllowed).compactMap { allowed in
                let denied = items.filter { !$0.isAllowed && ($0.port == nil || $0.port == allowed.port) }
                if denied.contains(where: { $0.prefix == allowed.prefix && $0.precedes(allowed) }) { return nil }
                var exceptions: [AddressPrefix] = []
                for inside in denied.map(\.prefix) where inside != allowed.prefix && allowed.prefix.covers(inside) {
                    if exceptions.contains(where: { $0.covers(inside) }) { continue }
                    exceptions.removeAll { inside.covers($0) }
                    exceptions.append(inside)
                }
                return Block(prefix: allowed.prefix, exceptions: exceptions, port: allowed.port)
            }
        }
    }
}
