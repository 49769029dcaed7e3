import Admin
import Challenges
import Credentials
import IO
import Proxy
import Rules
import Upstream

/// Reads the rule file of a running proxy again.
struct Reload {
    let configuration: String
    let server: ProxyServer
    let shared: SharedState
    let store: RunningStore
    let requests: Requests

    /// - Parameter cause: the sender of the signal, or the writer of the file, if no command asked for the reload.
    /// - Returns: the new rules in use; the old ones if the new ones cannot be used.
    func run(since running: Setup, _ identities: ListenerCertificates, for cause: AuditEvent.Actor) -> Setup {
        Supervision.tell(.reloading)
        defer { Supervision.tell(.ready) }
        let (number, actor, retries) = requests.begin(for: cause)
        let (setup, result) = run(since: running, identities, askedBy: actor)
        var outcome = result
        if retries, case .reloaded = result {
            outcome = .reloaded(lifted: shared.challenges.retryAll(for: actor, at: SystemClock.wallTime).count)
        }
        requests.end(number, outcome)
        return setup
    }

    private func run(since running: Setup, _ identities: ListenerCertificates, askedBy actor: AuditEvent.Actor) -> (
        Setup, ReloadOutcome
    ) {
        guard let fresh = Setup.load(configuration, since: running) else {
            let reason = "\(configuration) has errors, or cannot be read; standard error shows them"
            return (running, reject(askedBy: actor, because: reason))
        }
        do throws(StartError) {
            // The values of a file that cannot be read at this moment are kept.
            fresh.credentials.keep(valuesOf: running.credentials)
            fresh.refresh(into: shared, identities)
            try fresh.requireIdentities()
            try fresh.requireAutomaticParents()
            let policy = try fresh.policy(identities)
            // This comes last because it cannot be undone.
            let opened = try store.open(for: fresh.rules.configuration)
            if opened != nil { fresh.refresh(into: shared, identities) }
            server.adopt(policy)
            fresh.offerRetries(to: shared)
            shared.challenges.questions.forgetStanding()
            fresh.reportFixedSettings(since: running)
            Console.repeatEvent("the rule file was reloaded")
            shared.audit.note(AuditEvent(.rulesReloaded, by: actor, details: configuration))
            if let opened { shared.audit.note(AuditEvent(.storeOpened, by: actor, details: "\(opened)")) }
            return (fresh, .reloaded(lifted: nil))
        } catch {
            Console.repeatEvent("\(error)")
            return (running, reject(askedBy: actor, because: "\(error)"))
        }
    }

    private func reject(askedBy actor: AuditEvent.Actor, because reason: String) -> ReloadOutcome {
        Console.repeatEvent("the rule file was not reloaded; the old rules stay in force")
        shared.audit.note(AuditEvent(.rulesRejected, by: actor, details: reason))
        return .rejected(reason: reason)
    }
}
