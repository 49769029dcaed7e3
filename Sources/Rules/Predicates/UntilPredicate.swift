import Model

extension Predicates {
    /// The predicate `until`: the last day of a `trust` rule.
    struct Until: Predicate {
        static let grammar = DirectiveGrammar.one("a day such as 2027-01-31")
        static let manual = DirectiveManual(
            "YYYY-MM-DD", example: "challenge { host old.example.com; allow expired; until 2027-01-31; trust }",
            "The last day of the rule, in UTC. There is a warning 14 days before.")
        static let topic = "trust"

        var day: Day?

        var isSaid: Bool { day != nil }
        var values: [String] { day.map { [$0.description] } ?? [] }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            guard let value = values.first else { return }
            day = Day(value.text)
            if day == nil { parse.refuse(value, "\(value.shown) is not a day such as 2027-01-31") }
        }

        /// Whether the day is not over. An unknown day is after every other.
        func holds(for query: borrowing ChallengeQuery) -> Bool {
            guard let day, let today = query.today else { return false }
            return today <= day
        }

        /// A rule with an end date leaves the challenges to later rules after that.
        func covers(_ other: Self) -> Bool { false }

        func mismatch(_ query: ChallengeQuery) -> String { "it \(wish(query))" }

        func wish(_ query: ChallengeQuery) -> String { "expired on \(values.alternatives)" }

        /// Returns a warning if the day is over or near.
        func warning(on today: Day) -> String? {
            guard let day else { return nil }
            let left = day.number - today.number
            if left < 0 { return "this rule has expired: remove it, or write a later day" }
            if left > 14 { return nil }
            let days = left == 1 ? "1 more day" : "\(left) more days"
            return "this rule expires soon: \(left == 0 ? "today is its last day" : "it has \(days)")"
        }
    }
}
