/// The part of a `challenge` that a request is held against before anything was challenged.
struct Gate: Sendable {
    let actsOnChallenge: Bool
    let authorization: Configuration.Challenge.Authorization?
    private let ports: PortSet?
    private let isForOrigins: Bool

    init(_ rule: Configuration.Challenge) {
        actsOnChallenge = rule.actsOnChallenge
        authorization = rule.authorization
        ports = rule.ports
        isForOrigins = rule.isProxy != true
    }

    func admits(_ port: UInt16) -> Bool {
        guard isForOrigins else { return false }
        return ports?.contains(port) ?? true
    }
}
