import Authentication
import Bytes
import IO
import Model
import Rules

/// Stores the credentials in clients' own answers that servers accept, as the rules with `learn` say. It is for one
/// request of a client.
public struct Learning {
    public let delegate: RuleDelegate
    /// The origin that is asked.
    public let origin: Origin
    public let request: LearningEvidence<SessionClient>.Request
    public let loop: EventLoop
    /// The request's credentials that are being stored.
    private let storage: PendingStorage

    public init(
        delegate: RuleDelegate, origin: Origin, request: LearningEvidence<SessionClient>.Request, loop: EventLoop,
        storage: PendingStorage = PendingStorage()
    ) {
        self.storage = storage
        self.delegate = delegate
        self.origin = origin
        self.request = request
        self.loop = loop
    }

    private var state: ChallengeState { delegate.state }
    private var policy: ChallengePolicy { delegate.policy }
    private var client: SessionClient { SessionClient(delegate.client) }

    /// Handles a `401`. The spaces are those of Basic, and of Digest for the same realm, because both use the same
    /// account.
    public func sawChallenges(_ challenges: [HeaderChallenge]) {
        let offers = policy.order.offers(in: challenges, from: origin).map(\.space)
        guard let basic = offers.first(where: { $0.authenticationMethod == .basic }) else { return }
        state.evidence.challenged(
            request,
            for: offers.filter {
                [.basic, .digest].contains($0.authenticationMethod)
                    && $0.realm.map { ExactText($0) } == basic.realm.map { ExactText($0) }
            })
    }

    /// Handles a `401` to a request with the client's own answer.
    public func sawRefusal(of credential: Credential) { state.evidence.refused(credential, of: client, to: request) }

    /// Handles a `2xx` to a request with the client's own answer.
    public func sawAcceptance(of credential: Credential) {
        let spaces = state.evidence.accepted(credential, of: client, to: request, at: loop.wallTime)
        for space in spaces { keep(credential, for: space) }
    }

    /// The credential that the client's own answers have proven for a space that the current response names. It is
    /// stored from now on.
    public func proven(for space: ProtectionSpace) -> Credential? {
        guard persistence(for: space) != nil else { return nil }
        let proven = state.evidence.proven(
            for: space, by: client, to: request, at: loop.wallTime, limit: policy.timeouts.session)
        return proven.flatMap { keep($0, for: space) }
    }

    /// The persistence; nil if no rule learns the credential.
    private func persistence(for space: ProtectionSpace) -> Persistence? {
        let rule = delegate.rule(for: space, failures: 0)
        guard rule.learns, rule.action == .performDefault else { return nil }
        let persistence = rule.persistence
        return persistence == .none ? nil : persistence
    }

    @discardableResult
    private func keep(_ learned: Credential, for space: ProtectionSpace) -> Credential? {
        guard let user = learned.user, let password = learned.password, let persistence = persistence(for: space) else {
            return nil
        }
        let credential = Credential(
            name: space.credentialName(of: user), user: user, password: password, persistence: persistence,
            isBrought: true)
        storage.keep(credential, for: space, by: delegate, on: loop)
        return credential
    }

    /// The credentials of one request that are being stored (`persistence permanent`). The client gets the response
    /// only after that. So a proxy that is killed after a response has stored the credential.
    ///
    /// It belongs to its loop.
    public final class PendingStorage {
        /// The limit of a wait. A slower store gets the credential later.
        private static let limit: Milliseconds = 2000

        private var writes: [Promise<Void>] = []

        public init() {}

        /// Whether `wait` has to wait.
        public var isPending: Bool { !writes.isEmpty }

        /// Keeps an accepted credential of the delegate's client, for as long as its persistence says.
        func keep(
            _ credential: Credential, for space: ProtectionSpace, by delegate: RuleDelegate, on loop: EventLoop
        ) {
            let (state, client) = (delegate.state, delegate.client)
            switch credential.persistence {
            case .none: break
            case .session:
                let isNew = state.sessionCredentials.put(
                    credential, for: space, of: client, at: loop.wallTime, limit: delegate.policy.timeouts.session)
                if isNew { state.noteLearned(credential, for: space, of: client) }
            case .permanent: begin(on: loop) { await state.keep(credential, for: space, of: client) }
            }
        }

        /// Begins to store a credential.
        ///
        /// - Parameter write: ends when the credential is stored, or cannot be.
        private func begin(on loop: EventLoop, _ write: @escaping @Sendable () async -> Void) {
            let end = Promise<Void>()
            writes.append(end)
            loop.spawn {
                await write()
                end.keep(())
            }
        }

        /// Waits for all stores that were begun, for at most 2 s.
        public func wait(on loop: EventLoop) async {
            let end = loop.now + Self.limit
            while let write = writes.popLast() {
                await write.value(within: loop.now.time(until: end), on: loop)
            }
        }

        /// Forgets the stores in progress.
        public func reset() { writes = [] }
    }
}
