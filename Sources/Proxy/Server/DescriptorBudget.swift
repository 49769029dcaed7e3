import IO
import Upstream

/// The distribution of the descriptors that the system allows the process.
public struct DescriptorBudget: Sendable {
    /// The limit of the process.
    let available: Int
    /// The descriptors that do not belong to clients and their origins: listeners, loops, name servers, logs, the
    /// store, the admin listener, and clients that are being refused.
    let reserved: Int
    /// The limit of waiting connections, and of refused ones, on each loop.
    let arrivals: Int
    /// The limit of connections to the admin listener.
    public let adminConnections: Int

    /// The descriptors for a client: its own, and that of the connection to its origin. Idle connections make room, and
    /// pipes are for systems that allow many descriptors.
    static let perClient = 2
    /// The descriptors that exist once.
    private static let base = 24
    /// The descriptors of a loop: its epoll, its wake-up and its sockets to name servers.
    private static let perLoop = 6
    /// The descriptors of a listener: its own, and the reserve.
    private static let perListener = 2
    init(available: Int, loops: Int, listeners: Int) {
        self.available = available
        arrivals = min(max(available / 64 / loops, 4), 64)
        adminConnections = min(max(available / 64, 4), 64)
        reserved =
            Self.base + adminConnections
            + loops * (Self.perLoop + listeners * Self.perListener + 2 * arrivals)
    }

    /// The number of clients that can be served at once.
    var clients: Int { max(1, (available - reserved) / Self.perClient) }

    /// The limit of idle connections to origins, of all loops, while clients do not need the descriptors: a client that
    /// visits many origins then finds them again. The last eighth stays free (`Descriptors.areFew`).
    func idle(besides limits: ClientCount.Limits) -> Int {
        max(limits.clients, min(Self.mostIdle, available - available / 8 - reserved))
    }

    /// The limit of idle connections, because connections also take memory.
    private static let mostIdle = 16_384

    /// The rule file's limits, as far as the system allows them.
    func limits(_ limits: Policy.Limits) -> ClientCount.Limits {
        let clients = min(limits.clients, clients)
        return ClientCount.Limits(clients: clients, perAddress: limits.clientsPerAddress ?? max(1, clients / 4))
    }

    /// A sentence about a limit that cannot be reached; nil if it can.
    func shortage(of wanted: Int) -> String? {
        guard wanted > clients else { return nil }
        return "limits clients \(wanted) needs \(reserved + wanted * Self.perClient) descriptors, the system allows "
            + "\(available) (ulimit -n): \(clients) clients are served"
    }
}
