import Bytes

/// Who may use the proxy.
public struct ClientPolicy: Sendable {
    private let allow: [AddressPrefix]

    init(_ clients: Configuration.Clients) {
        allow = clients.allow
    }

    /// Whether a client at that address may connect. Allocates nothing.
    public func permits(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        for prefix in allow where prefix.contains(address) { return true }
        return false
    }
}
