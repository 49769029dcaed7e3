import Bytes

/// Who may use the proxy.
public struct ClientPolicy: Sendable {
    private let allow: [AddressPrefix]

    init(_ clients: Configuration.Clients) {
        allow = clients.allow
    }

    /// What an `allow` line has to say to let in that address as well. The first such line takes the place of the default.
    public func entries(with address: IPAddress) -> String {
        let standard = Configuration.Clients().allow
        return ((allow == standard ? standard.map { "\($0)" } : []) + ["\(address.unmapped)"]).joined(separator: " ")
    }

    /// Whether a client at that address may connect. Allocates nothing.
    public func permits(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        for prefix in allow where prefix.contains(address) { return true }
        return false
    }
}
