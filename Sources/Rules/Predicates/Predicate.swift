import Model

/// A condition of a `challenge`. One file of this folder has all that there is to it: its word's grammar and manual, its
/// values, its test, and what is said where it fails. `Predicates` lists them.
protocol Predicate: Sendable, Equatable {
    static var grammar: DirectiveGrammar { get }
    static var manual: DirectiveManual { get }
    /// The manual's topic that explains it.
    static var topic: String { get }
    /// The methods whose challenges it can tell apart. A predicate for methods of TLS alone makes its rule one for these.
    static var methods: MethodSet { get }
    /// Whether the request alone does not decide it.
    static var needsChallenge: Bool { get }

    /// One that is not said.
    init()
    /// False: it holds for every challenge.
    var isSaid: Bool { get }
    /// The values, as the rule file writes them.
    var values: [String] { get }
    /// Takes the values of one directive, or reports what is wrong with them.
    mutating func read(_ values: [Value], _ parse: ValueParser)
    /// Asked only if it is said.
    func holds(for query: borrowing ChallengeQuery) -> Bool
    /// Whether it surely holds where `other` does, both being said.
    func covers(_ other: Self) -> Bool
    /// Why it does not hold, for `attache explain`.
    func mismatch(_ query: ChallengeQuery) -> String
    /// A clause behind `rule "name" `: what the rule wants, and what the challenge has.
    func wish(_ query: ChallengeQuery) -> String
    /// A clause behind `if `: what a challenge must have, if the request fits; nil: nothing.
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
    /// `a, b or c`, and no more than four.
    var alternatives: String {
        let items = map(\.description)
        var words = Array(items.prefix(4))
        if items.count > 4 { words.append("\(items.count - 4) more") }
        guard let last = words.popLast() else { return "" }
        return words.isEmpty ? last : words.joined(separator: ", ") + " or " + last
    }
}

extension ChallengeQuery {
    /// The server that asks, in a sentence.
    var server: String { isProxy ? "parent" : "origin" }
}
