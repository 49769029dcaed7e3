import Bytes
import Model

extension Predicates {
    /// The predicate `client`: the sender of the request.
    struct Client: Predicate {
        static let grammar = DirectiveGrammar.some("user names, addresses or blocks", repeats: true)
        static let manual = DirectiveManual(
            "NAME|ADDRESS …", example: "challenge { host lab.example.com; client 10.1.0.0/16 \"alice\"; use lab }",
            """
            The client: a user who has logged in to the proxy or whom `listen … as` names, or addresses. A name in quotes is
            always a user.
            """)

        /// An address block, or the user that the proxy authenticated.
        enum Pattern: Hashable, Sendable, CustomStringConvertible {
            case addresses(AddressPrefix)
            case user(TextPattern)

            func matches(_ client: borrowing ClientIdentity) -> Bool {
                switch self {
                case .addresses(let prefix): client.address.map { prefix.contains($0.unmapped) } ?? false
                case .user(let pattern): client.user.map { pattern.matches($0) } ?? false
                }
            }

            var description: String {
                switch self {
                case .addresses(let prefix): prefix.description
                case .user(let pattern): pattern.description
                }
            }
        }

        var patterns: [Pattern] = []

        var isSaid: Bool { !patterns.isEmpty }
        var values: [String] { patterns.map(\.description) }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            patterns += values.compactMap { pattern($0, parse) }
        }

        /// A text in quotes is always a user's name.
        private func pattern(_ value: Value, _ parse: ValueParser) -> Pattern? {
            if value.isQuoted, value.source == .written { return .user(TextPattern(value.text)) }
            do throws(AddressPrefix.Fault) {
                return .addresses(try AddressPrefix(value.text))
            } catch {
                guard case .notAnAddress = error else {
                    parse.refuse(value, error)
                    return nil
                }
                return .user(TextPattern(value.text))
            }
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool { matches(query.client) }

        func matches(_ client: borrowing ClientIdentity) -> Bool {
            for index in patterns.indices where patterns[index].matches(client) { return true }
            return false
        }

        func covers(_ other: Self) -> Bool { other.patterns.allSatisfy(patterns.contains) }

        func mismatch(_ query: ChallengeQuery) -> String {
            let address = query.client.address.map { "\($0)" } ?? ClientIdentity.local
            return
                "client is \(query.client.user.map { "\($0) at \(address)" } ?? address), not \(values.alternatives)"
        }

        func wish(_ query: ChallengeQuery) -> String { "is for other clients" }
    }
}
