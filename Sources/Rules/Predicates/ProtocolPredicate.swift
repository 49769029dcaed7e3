import Model

extension Predicates {
    /// The predicate `protocol`: the protocol between the proxy and the server.
    struct NetworkProtocols: Predicate {
        static let grammar = DirectiveGrammar.some("'http', 'https', 'ftp' or 'socks'")
        static let manual = DirectiveManual(
            "http|https|ftp|socks …", example: "challenge \"mirror\" { protocol ftp; host ftp.example.com; use ci }",
            "The protocol between the proxy and the server.")

        var protocols: [NetworkProtocol] = []

        var isSaid: Bool { !protocols.isEmpty }
        var values: [String] { protocols.map(\.rawValue) }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            protocols = values.compactMap { parse.keyword($0, NetworkProtocol.self) }
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool { protocols.contains(query.protocol) }

        func covers(_ other: Self) -> Bool { other.protocols.allSatisfy(protocols.contains) }

        func mismatch(_ query: ChallengeQuery) -> String {
            "protocol is \(query.protocol.rawValue), not \(values.alternatives)"
        }

        func wish(_ query: ChallengeQuery) -> String {
            "is for protocol \(values.alternatives); the \(query.server) is asked by \(query.protocol)"
        }
    }
}
