/// The conditions of a `challenge`. A rule applies if all that it sets match. A new predicate gets a line in each list
/// of this file.
public struct Predicates: Sendable, Equatable {
    var proxy = Proxy()
    var host = Host()
    var port = Port()
    var `protocol` = NetworkProtocols()
    var secure = Secure()
    var client = Client()
    var method = Method()
    var until = Until()
    var realm = Realm()
    var issuer = Issuer()
    var finding = Finding()
    var failures = Failures()

    /// The words of the predicates, in the order in which they are checked.
    public enum Name: String, Sendable, CaseIterable {
        case proxy
        case host
        case port
        case `protocol`
        case secure
        case client
        case method
        case until
        case realm
        case issuer
        case finding
        case failures

        private static let none = Predicates()

        var type: any Predicate.Type { Swift.type(of: Self.none[self]) }

        /// The methods whose challenges it can match.
        var methods: MethodSet { type.methods }

        /// Whether it limits its rule to TLS methods.
        var isOfTLS: Bool { MethodSet.tls.isSuperset(of: methods) }

        /// The number of predicates that are checked before it.
        var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        static func explained(in topic: String) -> [Self] { allCases.filter { $0.type.topic == topic } }
    }

    /// Whether a predicate that is set matches.
    func holds(_ name: Name, for query: borrowing ChallengeQuery) -> Bool {
        switch name {
        case .proxy: proxy.holds(for: query)
        case .host: host.holds(for: query)
        case .port: port.holds(for: query)
        case .protocol: `protocol`.holds(for: query)
        case .secure: secure.holds(for: query)
        case .client: client.holds(for: query)
        case .method: method.holds(for: query)
        case .until: until.holds(for: query)
        case .realm: realm.holds(for: query)
        case .issuer: issuer.holds(for: query)
        case .finding: finding.holds(for: query)
        case .failures: failures.holds(for: query)
        }
    }

    /// Returns a predicate, for uses that are not on the hot path.
    subscript(_ name: Name) -> any Predicate {
        switch name {
        case .proxy: proxy
        case .host: host
        case .port: port
        case .protocol: `protocol`
        case .secure: secure
        case .client: client
        case .method: method
        case .until: until
        case .realm: realm
        case .issuer: issuer
        case .finding: finding
        case .failures: failures
        }
    }

    /// Reads the values of one directive, or reports what is wrong with them.
    mutating func read(_ name: Name, _ values: [Value], _ parse: ValueParser) {
        switch name {
        case .proxy: proxy.read(values, parse)
        case .host: host.read(values, parse)
        case .port: port.read(values, parse)
        case .protocol: `protocol`.read(values, parse)
        case .secure: secure.read(values, parse)
        case .client: client.read(values, parse)
        case .method: method.read(values, parse)
        case .until: until.read(values, parse)
        case .realm: realm.read(values, parse)
        case .issuer: issuer.read(values, parse)
        case .finding: finding.read(values, parse)
        case .failures: failures.read(values, parse)
        }
    }

    /// The predicates that the rule sets, in the order in which they are checked.
    var said: [Name] { Name.allCases.filter { self[$0].isSaid } }

    /// Whether these predicates certainly match everything that `other` matches.
    func covers(_ other: Self) -> Bool { Name.allCases.allSatisfy { self[$0].coversAny(other[$0]) } }
}
