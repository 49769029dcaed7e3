import Bytes
import HTTP
import Rules

/// Refusals by the rules. Each names the address, and the line of the rule file that would allow it.
extension Refusal {
    /// The refusal for a host all of whose addresses `egress` denies.
    ///
    /// - Parameter addresses: the denied addresses of the host.
    public static func prohibited(
        _ addresses: [IPAddress], of host: String, port: UInt16, by egress: EgressPolicy
    ) -> Refusal {
        let shown = Array(addresses.prefix(shownLimit))
        let names = shown.map { "\($0.unmapped)" }
        let peer = names == [host] ? "\(host) port \(port)" : "\(host) port \(port) (\(names.joined(separator: ", ")))"
        var refusal = Refusal(
            .forbidden, .destinationIPProhibited, "the rules of this proxy do not let it connect to \(peer)")
        let entries = shown.compactMap { egress.entry(allowing: $0, port: port) }
        if let address = shown.first, entries.isEmpty {
            refusal.explanation =
                "The rule file denies this address: \(egress.permits(address, port: port).reason)."
        } else if !entries.isEmpty {
            refusal.explanation = line("allow \(entries.joined(separator: " "))", in: "egress")
        }
        return refusal
    }

    /// The refusal for a tunnel to a port that `connect-ports` does not list.
    public static func tunnelPort(_ port: UInt16, of host: String, by egress: EgressPolicy) -> Refusal {
        var refusal = Refusal(
            .forbidden, .httpRequestDenied,
            "the rules of this proxy do not allow tunnels to \(host) port \(port)")
        refusal.explanation = line("connect-ports \(egress.connectPorts(with: port))", in: "egress")
        return refusal
    }

    /// The refusal for a client address that `clients` does not allow.
    public static func client(at address: IPAddress, by clients: ClientPolicy) -> Refusal {
        var refusal = Refusal(
            .forbidden, .httpRequestDenied, "this proxy does not serve clients at your address, \(address.unmapped)")
        refusal.explanation = line("allow \(clients.entries(with: address))", in: "clients")
        return refusal
    }

    /// The number of addresses listed. A name may have any number of them.
    private static var shownLimit: Int { 4 }

    private static func line(_ line: String, in block: String) -> String {
        "This line in '\(block)' of the rule file would allow it:\n\n    \(line)"
    }
}
