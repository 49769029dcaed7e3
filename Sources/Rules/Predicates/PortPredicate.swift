extension Predicates {
    /// The predicate `port`: the port of the server.
    struct Port: Predicate {
        static let grammar = DirectiveGrammar.some("ports", repeats: true)
        static let manual = DirectiveManual(
            "PORT …", example: "challenge { host ci.example.com; port 443 8000-8100; secure yes; use ci }",
            "The port of the server: single ports, or LOW-HIGH.")

        var ports: PortSet?

        var isSaid: Bool { ports != nil }
        var values: [String] { ports?.ranges.map { PortSet(ranges: [$0]).description } ?? [] }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            guard let more = parse.ports(values, mayBeAny: false) else { return }
            ports = PortSet(ranges: (ports?.ranges ?? []) + more.ranges)
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool { ports?.contains(query.port) ?? true }

        func covers(_ other: Self) -> Bool { other.ports.map { ports?.covers($0) ?? true } ?? false }

        func mismatch(_ query: ChallengeQuery) -> String { "port is \(query.port), not \(values.alternatives)" }

        func wish(_ query: ChallengeQuery) -> String {
            "is for port \(values.alternatives); the request is for port \(query.port)"
        }
    }
}
