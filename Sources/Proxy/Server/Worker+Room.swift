import Bytes
import IO

/// Room for a client, when as many are served as may be.
extension Worker {
    enum Displacement {
        case made
        /// A connection that a task serves ends soon.
        case underWay
        /// All that could make room are at work, or on other loops.
        case none
    }

    /// Closes one of this loop's connections that waits for its client, unless one on another loop should go first.
    func makeRoom(for address: IPAddress, shortOf shortage: ClientCount.Shortage) -> Displacement {
        let network = network(of: address, shortage)
        let result = displace(silent: true, in: network)
        if result != .none || network == nil && clients.loopWithSilent(besides: loop.index) != nil { return result }
        return displace(silent: false, in: network)
    }

    /// Has other loops do the same, one after the other until one does: they tell this one when there is room.
    func askOthersForRoom(for address: IPAddress, shortOf shortage: ClientCount.Shortage) {
        let network = network(of: address, shortage)
        let first = network == nil ? clients.loopWithSilent(besides: loop.index) : nil
        ask(first ?? loop.index + 1, in: network, steps: clients.tallies.count - 1)
    }

    private func ask(_ index: Int, in network: IPAddress?, steps: Int) {
        guard steps > 0 else { return }
        let index = index % clients.tallies.count
        clients.tell(index) { worker in
            guard worker.displace(silent: true, in: network) == .none,
                worker.displace(silent: false, in: network) == .none
            else { return }
            worker.ask(index + 1, in: network, steps: steps - 1)
        }
    }

    /// Whose connections may make room; nil: anybody's.
    private func network(of address: IPAddress, _ shortage: ClientCount.Shortage) -> IPAddress? {
        shortage == .address ? ClientCount.network(of: address) : nil
    }
}
