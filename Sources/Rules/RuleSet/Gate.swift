/// The part of a `challenge` that a request is held against before anything was challenged. It holds nothing that is
/// counted, so looking at one costs no retain.
struct Gate: Sendable {
    let actsOnChallenge: Bool
    let learns: Bool
    let authorization: Configuration.Challenge.Authorization?
    private let isForOrigins: Bool
    private let isForProxies: Bool
    private let isForAnyPort: Bool
    /// Its ports in the rule set's common list.
    private let ports: Range<Int>

    init(_ rule: Configuration.Challenge, ports list: inout [ClosedRange<UInt16>]) {
        actsOnChallenge = rule.actsOnChallenge
        learns = rule.learns
        authorization = rule.authorization
        isForOrigins = rule.isProxy != true
        isForProxies = rule.isProxy != false
        isForAnyPort = rule.ports == nil
        let start = list.count
        list += rule.ports?.ranges ?? []
        ports = start..<list.count
    }

    func admits(_ port: UInt16, _ list: [ClosedRange<UInt16>], isProxy: Bool) -> Bool {
        guard isProxy ? isForProxies : isForOrigins else { return false }
        if isForAnyPort { return true }
        for index in ports where list[index].contains(port) { return true }
        return false
    }
}
