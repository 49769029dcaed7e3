extension Predicates {
    /// The predicate `realm`: the realm of the challenge.
    struct Realm: Predicate {
        static let grammar = DirectiveGrammar.some("realms, where '*' matches any characters", repeats: true)
        static let manual = DirectiveManual(
            "TEXT …", example: "challenge { host ci.example.com; realm \"Jenkins*\"; use ci }",
            "The realm of the challenge. `*` matches any characters. NTLM, Negotiate and forms have no realm.")
        static let methods = MethodSet.http
        static let needsChallenge = true

        var patterns: [TextPattern] = []

        var isSaid: Bool { !patterns.isEmpty }
        var values: [String] { patterns.map { "\"\($0)\"" } }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            patterns += values.map { TextPattern($0.text) }
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool {
            guard let realm = query.realm else { return false }
            for index in patterns.indices where patterns[index].matches(realm) { return true }
            return false
        }

        func covers(_ other: Self) -> Bool { patterns.cover(other.patterns) }

        func mismatch(_ query: ChallengeQuery) -> String {
            query.realm.map { "realm is \"\($0)\", not \(values.alternatives)" } ?? "the challenge has no realm"
        }

        func wish(_ query: ChallengeQuery) -> String {
            let said = query.realm.map { "sends \"\($0)\"" } ?? "sends none"
            return "is for realm \(values.alternatives); the \(query.server) \(said)"
        }

        var prospect: String? { isSaid ? "the realm is \(values.alternatives)" : nil }
    }
}

extension [TextPattern] {
    /// Whether these patterns contain each of the others, or one that matches any text.
    func cover(_ others: Self) -> Bool {
        others.allSatisfy { inner in contains { $0.isAny || $0 == inner } }
    }
}
