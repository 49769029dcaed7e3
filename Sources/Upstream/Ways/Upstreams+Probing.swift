import IO
import Rules
import Transport

/// Tries a failed parent again, so that no request has to wait for it.
extension Upstreams {
    /// Records that a connection to the parent failed, for the reason in the sentence. Further failures of connections
    /// that were already in progress change nothing.
    public func failed(_ parent: Parent, because reason: String) {
        if parent.health == .working { probe(parent, because: reason) }
    }

    /// Checks the parent after a pause, again and again until it works.
    private func probe(_ parent: Parent, because reason: String) {
        let pause = parent.failed(because: reason, at: loop.epochMilliseconds)
        let alarm =
            parent.probe
            ?? Alarm(on: loop) { [unowned self, unowned parent] in
                let bound = LoopBound((upstreams: self, parent: parent), to: loop)
                loop.spawn { await bound.value.upstreams.look(at: bound.value.parent) }
            }
        parent.probe = alarm
        alarm.set(after: pause)
    }

    private func look(at parent: Parent) async {
        guard case .failing = parent.health else { return }
        let isWanted =
            parent.isFound
            ? policy.automaticParents[parent.name] != nil
            : policy.rules.configuration.parents.contains { $0.servers.contains(parent.server) }
        // A parent of older rules is not checked any longer. If the rules name it again, it is tried.
        guard isWanted, !isDraining else { return parent.worked() }
        let dialer = Dialer(
            network: network, policy: policy, own: shared.ownListeners, loop: loop, wakeup: Wakeup(), metrics: metrics)
        do throws(Refusal) {
            try await dialer.connect(host: parent.origin.hostText, port: parent.origin.port).close()
            parent.worked()
        } catch {
            probe(parent, because: error.sentence)
        }
    }
}
