import Bytes
import Model

extension Predicates {
    /// The predicate `failures`: the number of refused answers of the request so far.
    struct Failures: Predicate {
        static let grammar = DirectiveGrammar.one("a number, or a range such as 1.. or 0..1")
        static let manual = DirectiveManual(
            "N|N..|N..M", example: "challenge \"one try, then say so\" { host lab.example.com; failures 1..; cancel }",
            """
            How many answers the server has already refused for this request, over all methods: N, N or more, N to M. For
            client-certificate, how many certificates this server has refused.
            """)
        /// The methods that it can match: with TLS, a server can refuse only a client certificate.
        static let methods = MethodSet.http.union(MethodSet(.clientCertificate))
        static let needsChallenge = true

        var range: ClosedRange<Int>?

        var isSaid: Bool { range != nil }
        var values: [String] {
            guard let range else { return [] }
            if range.upperBound == .max { return ["\(range.lowerBound) or more"] }
            return [range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"]
        }

        /// Parses `N`, `N..` or `N..M`.
        mutating func read(_ values: [Value], _ parse: ValueParser) {
            guard let value = values.first else { return }
            let text = Array(value.text.utf8)
            if let dots = text.firstIndex(ofWord: "..") {
                let low = ValueParser.decimal(String(decoding: text[..<dots], as: UTF8.self))
                let rest = String(decoding: text[(dots + 2)...], as: UTF8.self)
                let high = rest.isEmpty ? Int.max : ValueParser.decimal(rest)
                if let low, let high, low <= high { range = low...high }
            } else if let number = ValueParser.decimal(value.text) {
                range = number...number
            }
            if range == nil {
                parse.refuse(value, "\(value.shown) is not a number of failures or a range such as 1.. or 0..1")
            }
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool { range?.contains(query.failures) ?? true }

        func covers(_ other: Self) -> Bool {
            guard let range, let inner = other.range else { return false }
            return range.lowerBound <= inner.lowerBound && range.upperBound >= inner.upperBound
        }

        func mismatch(_ query: ChallengeQuery) -> String {
            "failures are \(query.failures), not \(values.alternatives)"
        }

        func wish(_ query: ChallengeQuery) -> String {
            "is for failures \(values.alternatives); \(query.failures) answers were refused"
        }

        var prospect: String? { isSaid ? "failures are \(values.alternatives)" : nil }
    }
}
