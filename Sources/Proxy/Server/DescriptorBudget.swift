import IO
import Upstream

/// How the descriptors that the system lets the process have are shared out.
public struct DescriptorBudget: Sendable {
    /// The process's limit.
    let available: Int
    /// Those that are none of a client's or its origin's: listeners, loops, name servers, logs, the store, the
    /// administrator's listener, and clients that are being refused.
    let reserved: Int
    /// Connections that wait or are refused, each on each loop.
    let arrivals: Int
    /// Connections to the administrator's listener.
    public let adminConnections: Int

    /// A client's own, and that of the connection to its origin. Connections that are kept for later make room, and
    /// pipes are for systems that give plenty.
    static let perClient = 2
    /// For what is there once.
    private static let base = 24
    /// A loop's epoll, its wake-up and its sockets to name servers.
    private static let perLoop = 6
    /// A listener's own and the one it holds in reserve.
    private static let perListener = 2
    init(available: Int, loops: Int, listeners: Int) {
        self.available = available
        arrivals = min(max(available / 64 / loops, 4), 64)
        adminConnections = min(max(available / 64, 4), 64)
        reserved =
            Self.base + adminConnections
            + loops * (Self.perLoop + listeners * Self.perListener + 2 * arrivals)
    }

    /// Clients that can be served at once.
    var clients: Int { max(1, (available - reserved) / Self.perClient) }

    /// Connections to origins that are kept for later, of all loops, where clients do not need their descriptors: a client that
    /// visits many origins finds them again. The last eighth stays free (`Descriptors.areFew`).
    func idle(besides limits: ClientCount.Limits) -> Int {
        max(limits.clients, min(Self.mostIdle, available - available / 8 - reserved))
    }

    /// Connections take memory as well.
    private static let mostIdle = 16_384

    /// The rule file's limits, as far as the system allows them.
    func limits(_ limits: Policy.Limits) -> ClientCount.Limits {
        let clients = min(limits.clients, clients)
        return ClientCount.Limits(clients: clients, perAddress: limits.clientsPerAddress ?? max(1, clients / 4))
    }

    /// One sentence on what cannot be had; nil if all can.
    func shortage(of wanted: Int) -> String? {
        guard wanted > clients else { return nil }
        return "limits clients \(wanted) needs \(reserved + wanted * Self.perClient) descriptors, the system allows "
            + "\(available) (ulimit -n): \(clients) clients are served"
    }
}
