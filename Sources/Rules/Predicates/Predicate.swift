/// A condition of a `challenge`. A file of this folder contains the whole predicate: its word's grammar and manual, its
/// values, its test, and the texts about a mismatch. `Predicates` lists them.
protocol Predicate: Sendable, Equatable {
    static var grammar: DirectiveGrammar { get }
    static var manual: DirectiveManual { get }
    /// The topic of the manual that explains it.
    static var topic: String { get }
    /// The methods whose challenges it can match. A predicate for TLS methods alone limits its rule to these.
    static var methods: MethodSet { get }
    /// Whether it depends on the challenge, not on the request alone.
    static var needsChallenge: Bool { get }

    /// Creates a predicate that the rule does not set.
    init()
    /// Whether the rule sets it. If false, it matches every challenge.
    var isSaid: Bool { get }
    /// The values, as the rule file writes them.
    var values: [String] { get }
    /// Reads the values of one directive, or reports what is wrong with them.
    mutating func read(_ values: [Value], _ parse: ValueParser)
    /// Whether it matches. Called only if the rule sets it.
    func holds(for query: borrowing ChallengeQuery) -> Bool
    /// Whether it certainly matches everything that `other` matches, if both are set.
    func covers(_ other: Self) -> Bool
    /// The reason why it does not match, for `attache explain`.
    func mismatch(_ query: ChallengeQuery) -> String
    /// The clause after `rule "name" `: the rule's condition, and the challenge's value.
    func wish(_ query: ChallengeQuery) -> String
    /// The clause after `if `: the condition on a challenge if the request matches; nil if none.
    var prospect: String? { get }
}

extension Predicate {
    static var topic: String { "challenge" }
    static var methods: MethodSet { .all }
    static var needsChallenge: Bool { false }
    var prospect: String? { nil }

    func coversAny(_ other: any Predicate) -> Bool {
        guard let other = other as? Self else { return false }
        return !isSaid || other.isSaid && covers(other)
    }
}

extension Sequence where Element: CustomStringConvertible {
    /// Returns `a, b or c`, with four items at most.
    var alternatives: String {
        let items = map(\.description)
        var words = Array(items.prefix(4))
        if items.count > 4 { words.append("\(items.count - 4) more") }
        guard let last = words.popLast() else { return "" }
        return words.isEmpty ? last : words.joined(separator: ", ") + " or " + last
    }
}

extension ChallengeQuery {
    /// The kind of server that challenges, for use in a sentence.
    var server: String { isProxy ? "parent" : "origin" }
}
