import Model

extension Predicates {
    /// The predicate `method`: the method of the challenge. Without it a rule is for the methods that its answer
    /// implies.
    struct Method: Predicate {
        static let grammar = DirectiveGrammar.some("authentication methods")
        static let manual = DirectiveManual(
            "METHOD …", example: "challenge { host ci.example.com; method digest ntlm; use ci }",
            """
            The method of the challenge: basic, digest, ntlm, negotiate, bearer, html-form, client-certificate, server-trust
            or other. `default` means basic, digest and ntlm, as in Apple's model.

            Without `method`, the rule is for all methods that its credential can answer. It is for client-certificate or
            server-trust only if the rule names them, or has a word that belongs to them. `other` is any unknown method. Only
            `helper git`, `bazel` and `cargo` answer it ('attache help helpers'), and it is tried last.
            """)
        static let needsChallenge = true

        var written: MethodSet?
        /// The methods that the rule is for. `ChallengeRule.resolved` sets this and the next two.
        var effective: MethodSet = []
        /// The methods that the rule's credentials can answer.
        var answerable: MethodSet = []
        /// The number of credentials that the rule names.
        var credentials = 0

        var isSaid: Bool { true }
        var values: [String] { written?.methods.map(\.description) ?? [] }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            written = MethodSet(
                values.flatMap { value in
                    if value.text == AuthenticationMethod.default.rawValue { return AuthenticationMethod.ofPasswords }
                    return parse.method(value).map { [$0] } ?? []
                })
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool { effective.contains(query.method) }

        func covers(_ other: Self) -> Bool { effective.isSuperset(of: other.effective) }

        func mismatch(_ query: ChallengeQuery) -> String {
            let method = query.method
            guard written == nil, credentials > 0 else {
                return "method is \(method), not \(effective.methods.alternatives)"
            }
            if answerable.contains(method) { return "it does not name \(method)" }
            if credentials > 1 { return "none of its credentials can answer \(method)" }
            return "\(answerable == .password ? "a user and a password" : "its credential") cannot answer \(method)"
        }

        func wish(_ query: ChallengeQuery) -> String {
            let wanted = (written ?? effective).methods
            let mayTakeBasic = query.method == .bearer && wanted.contains(.basic) && !query.isProxy
            return "is for method \(wanted.alternatives); the \(query.server) offers \(query.method)"
                + (mayTakeBasic
                    ? "; if it takes Basic too, write 'method basic' and 'preempt always' in that rule" : "")
        }

        var prospect: String? {
            guard let written, !MethodSet.tls.isSuperset(of: effective) else { return nil }
            return "the method is \(written.methods.alternatives)"
        }
    }
}

extension ValueParser {
    /// Returns the name of one method; nil if an error was reported.
    func method(_ value: Value) -> AuthenticationMethod? {
        if let method = AuthenticationMethod(rawValue: value.text), method != .default { return method }
        let words = AuthenticationMethod.allCases.filter { $0 != .default }.map(\.description)
        let isOther = ["unknown", "any"].contains(value.text)
        refuse(
            value, "unknown method \(value.shown)",
            suggestion: isOther ? "other" : Suggestion.nearest(to: value.text, among: words))
        return nil
    }
}
