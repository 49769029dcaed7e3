import Bytes

extension Predicates {
    /// The predicate `host`: the server or parent proxy that challenges.
    struct Host: Predicate {
        static let grammar = DirectiveGrammar.some("host patterns", repeats: true)
        static let manual = DirectiveManual(
            "HOST …", example: "challenge { host ci.example.com *.lab.example.com; secure yes; use ci }",
            "The host that asks: the server, or the parent proxy.")

        var patterns: [HostPattern] = []

        var isSaid: Bool { !patterns.isEmpty }
        var values: [String] { patterns.map(\.description) }

        mutating func read(_ values: [Value], _ parse: ValueParser) {
            patterns += values.compactMap { pattern($0, parse) }
        }

        private func pattern(_ value: Value, _ parse: ValueParser) -> HostPattern? {
            let parts = value.text.split(separator: ":", omittingEmptySubsequences: false)
            if parts.count == 2, let port = ValueParser.port(String(parts[1])) {
                let hint = value.source == .written ? "port \(port)" : "port"
                parse.refuse(
                    value, "write the host without its port, and add '\(hint)'", suggestion: String(parts[0]))
                return nil
            }
            return parse.hostPattern(value, value.text)
        }

        func holds(for query: borrowing ChallengeQuery) -> Bool { matches(query.host.utf8Span.span) }

        func matches(_ host: Span<UInt8>) -> Bool {
            for index in patterns.indices where patterns[index].matches(host) { return true }
            return false
        }

        /// Whether the rule certainly intends its credential for that host.
        func covers(_ host: Span<UInt8>) -> Bool {
            for index in patterns.indices where patterns[index].covers(host) { return true }
            return false
        }

        func covers(_ other: Self) -> Bool {
            other.patterns.allSatisfy { inner in patterns.contains { $0.covers(inner) } }
        }

        func mismatch(_ query: ChallengeQuery) -> String { "host is \(query.host), not \(patterns.alternatives)" }

        func wish(_ query: ChallengeQuery) -> String {
            "is for host \(patterns.alternatives); the request is for \(query.host)"
        }

        /// True if it matches every host.
        var isForAny: Bool { patterns.isEmpty || patterns.contains { $0.form == .any } }

        /// True if all its hosts are this machine.
        var staysOnThisMachine: Bool {
            !patterns.isEmpty
                && patterns.allSatisfy { host in
                    switch host.form {
                    case .exact: host.description == "localhost" || IPAddress(host.description)?.isLoopback == true
                    case .addresses(let prefix): AddressClass.loopback.prefixes.contains { $0.covers(prefix) }
                    case .any, .suffix, .glob: false
                    }
                }
        }

        /// Whether one of the patterns may be a misspelling of that host.
        func isNear(_ host: String) -> Bool { patterns.contains { $0.isNear(host) } }
    }
}

extension HostPattern {
    /// Whether the host is a typing error, a name above or below the pattern, or another name of this machine.
    fileprivate func isNear(_ host: String) -> Bool {
        let name = description.hasPrefix("*.") ? String(description.dropFirst(2)) : description
        guard name.count > 1, !name.contains("*") else { return false }
        let host = host.lowercased()
        if Self.loopback.contains(name), Self.loopback.contains(host) { return true }
        if Suggestion.nearest(to: host, among: [name]) != nil { return true }
        guard name.contains("."), IPAddress(name) == nil, IPAddress(host) == nil else { return false }
        return host == name || host.hasSuffix(".\(name)") || host.contains(".") && name.hasSuffix(".\(host)")
    }

    private static let loopback = ["localhost", "127.0.0.1", "::1"]
}
