import Bytes
import Model
import Synchronization

extension Account {
    /// The account of one version in this process: the machine behind a lock, the waiting requests, and the connection
    /// to the shared store.
    ///
    /// If there is a store, an event that other processes may know more about changes the store's copy, in one
    /// transaction. Later events wait in line. While the version is good, no event needs that.
    final class Ledger: Sendable {
        let version: CredentialVersion
        /// The size of the credential's name and value in bytes; 0: not known.
        let weight: Int
        /// The client that sent the credential; nil: it is from the rule file or the store.
        var owner: String? { state.withLock { $0.owner } }
        private let context: Accounts.Context
        private let state: Mutex<State>
        /// The number of answers sent so far.
        private let places = Atomic(0)
        /// The end of `places` at the last call of `noteUse`, and the number of calls since then without a change.
        private let seenPlaces = Atomic(0)
        private let restingTime = Atomic(Account.Ledger.watchTime)
        private let latest = Atomic<WallTime>(0)

        struct State {
            var owner: String?
            var account: Account
            var seat: Account.Seat
            /// The credential with the version's value, for probes; nil: no request has sent it yet.
            var credential: Credential?
            /// The waiting requests, by number.
            var waiters: [Int: Evidence.Waiter] = [:]
            /// The number of the latest request. It is not the seat's, since a running transaction uses a copy of the
            /// seat.
            var lastRequest = 0
            var evidences: [String: Evidence] = [:]
            /// The events that wait while another one is carried out at the store.
            var events: [Event] = []
            var isAtStore = false
            /// The number of the store's latest change known to this process; 0 if none.
            var revision: Int64 = 0
            /// Whether the store lacks the latest events.
            var isAhead = false
            /// Whether the credential has another value now, or the account made room for another one.
            var isDissolved = false
            /// Whether the credential has another value now.
            var isReplaced = false
            var told = Account.Ledger.ToldHolds()
        }

        /// An event of the account.
        enum Event: Sendable {
            case request(Account.Request)
            case judge(SentAnswer, Verdict, Account.Sample?, reason: String?, by: ClientIdentity?)
            case wake
            case hurry(server: String)
            case follow
            case reset

            /// Whether a server has refused the version.
            var isRefusal: Bool { if case .judge(_, .refused, _, _, _) = self { true } else { false } }
            var isReset: Bool { if case .reset = self { true } else { false } }
            /// The client whose request was judged; nil: the request was the proxy's own, or the event is another one.
            var client: ClientIdentity? { if case .judge(_, _, _, _, let client) = self { client } else { nil } }

            func happen(to account: inout Account, by seat: inout Account.Seat, at now: WallTime) -> [Account.Decision]
            {
                switch self {
                case .request(let request): account.request(request, by: &seat, at: now)
                case .judge(let answer, let verdict, let sample, let reason, _):
                    account.judge(answer, verdict, sample: sample, because: reason, by: &seat, at: now)
                case .wake: account.wake(by: &seat, at: now)
                case .hurry(let server): account.hurry(at: server, by: &seat, at: now)
                case .follow: account.follow(by: &seat, at: now)
                case .reset: account.reset(by: &seat, at: now)
                }
            }
        }

        init(
            _ version: CredentialVersion, _ account: Account, owner: String?, weight: Int = 0,
            in context: Accounts.Context
        ) {
            self.version = version
            self.weight = weight
            self.context = context
            state = Mutex(State(owner: owner, account: account, seat: Account.Seat(replica: context.replica)))
        }

        var replica: UInt64 { context.replica }
        /// The time of the latest event.
        var latestEvent: WallTime { latest.load(ordering: .relaxed) }
        var account: Account { state.withLock { $0.account } }
        var shared: Shared {
            state.withLock { Shared(version, broughtBy: $0.owner, $0.account, revision: $0.revision) }
        }

        /// The credential; nil: no request has sent it yet.
        var credential: Credential? { state.withLock { $0.credential } }

        /// Notes that the credential is also in the rule file or the store.
        func disown() { state.withLock { $0.owner = nil } }

        /// Stores the credential that has this version.
        func take(_ credential: Credential) {
            state.withLock { if $0.credential == nil { $0.credential = credential } }
        }

        /// Returns the position of an answer in the order of sending.
        func nextPlace() -> Int { places.add(1, ordering: .relaxed).newValue }

        func evidence(at server: String) -> Evidence {
            state.withLock { state in
                if let known = state.evidences[server] { return known }
                // Evidence that is dropped here still reports, but no longer learns that the version is good.
                if state.evidences.count >= Self.evidenceLimit {
                    for evidence in state.evidences.values { evidence.isSettled.store(false, ordering: .releasing) }
                    state.evidences = [:]
                }
                let evidence = Evidence(self, at: server)
                if state.isDissolved { return evidence }
                state.evidences[server] = evidence
                evidence.isSettled.store(state.isGood(at: server), ordering: .releasing)
                return evidence
            }
        }

        private static let evidenceLimit = 512

        // MARK: - Events

        func admit(
            at server: String, for target: UInt64, wasAccepted: Bool, under terms: Evidence.RetryTerms, now: WallTime
        ) -> Evidence.Admission {
            let (request, waiter) = state.withLock { state in
                state.lastRequest &+= 1
                var request = Account.Request(id: state.lastRequest, server: server, target: target)
                request.wasAccepted = wasAccepted
                request.retry = terms.retry
                request.mayProbe = terms.mayProbe
                request.fixedSample = terms.sample
                let waiter = Evidence.Waiter(for: request.id, at: request.server, in: self)
                state.waiters[request.id] = waiter
                return (request, waiter)
            }
            return carryOut(.request(request), now: now, for: request.id) ?? .wait(waiter)
        }

        /// Ends the wait of the request with that number.
        func giveUp(_ id: Int) {
            state.withLock { state in
                state.waiters[id] = nil
                _ = state.seat.remove(id)
            }
        }

        /// - Parameters:
        ///   - reason: as for `Account.judge`.
        ///   - client: the client whose request was judged; nil: the proxy's own.
        func judge(
            _ answer: SentAnswer, _ verdict: Verdict, sample: Account.Sample?, because reason: String?,
            by client: ClientIdentity?, now: WallTime
        ) {
            _ = carryOut(.judge(answer, verdict, sample, reason: reason, by: client), now: now, for: nil)
            if verdict == .accepted { state.withLock { $0.account.noteAcceptance(at: answer.server, now) } }
        }

        /// Makes a waiting request lead beside the present leader.
        func hurry(at server: String, now: WallTime) { _ = carryOut(.hurry(server: server), now: now, for: nil) }

        /// Notes when the version was sent and accepted since the last call. Call it each second, so that requests that
        /// send a good version need not read the clock.
        func noteUse(at now: WallTime) {
            let end = places.load(ordering: .relaxed) & (Self.placesOfEvent - 1)
            let isSent = seenPlaces.exchange(end, ordering: .relaxed) != end
            // Answers that were sent may be accepted later.
            let resting = isSent ? 0 : restingTime.load(ordering: .relaxed) + 1
            if resting > Self.watchTime { return }
            restingTime.store(resting, ordering: .relaxed)
            state.withLock { state in
                if isSent { state.account.noteSending(now) }
                for (server, evidence) in state.evidences where evidence.takeNews() {
                    state.account.noteAcceptance(at: server, now)
                }
            }
        }

        /// The number of calls, one a second, for which an idle version is looked at.
        private static let watchTime = 60

        /// Ends the waits that are over, and makes the tries that are due.
        func wake(at now: WallTime) { _ = carryOut(.wake, now: now, for: nil) }

        /// Clears all doubts, since the value was set again.
        func reset(at now: WallTime) { _ = carryOut(.reset, now: now, for: nil) }

        /// Adopts the store's account.
        func adopt(_ shared: Shared, at now: WallTime) {
            let isChanged = change(isOurs: false, by: nil, at: now) { state in
                if state.isAtStore {
                    // A running event may have begun with an earlier account.
                    state.events.append(.follow)
                    return false
                }
                guard shared.revision > state.revision else { return false }
                state.revision = shared.revision
                let account = shared.account.completed(by: state.account)
                defer { state.account = account }
                return state.account != account
            }
            if isChanged, state.withLock({ !$0.seat.waiting.isEmpty }) { _ = carryOut(.follow, now: now, for: nil) }
        }

        /// Forgets the number of changes, since another store replaced the one that counted them.
        func forgetStore() { state.withLock { $0.revision = 0 } }

        /// Notes that a server has accepted the version before.
        func learn(of server: String) {
            _ = change(isOurs: false, by: nil, at: latestEvent) { $0.account.learn(of: server) }
        }

        /// Notes that a server accepts tickets obtained with the version.
        ///
        /// - Parameter now: the time of the acceptance; nil: in an earlier process, or in
        ///   another one.
        func noteTicket(at server: String, now: WallTime?) {
            _ = change(isOurs: false, by: nil, at: now ?? latestEvent) { state in
                let isNew = state.account.learnOfTickets(at: server)
                if let now {
                    state.account.noteSending(now)
                    state.account.noteAcceptance(at: server, now)
                }
                return isNew
            }
        }

        /// Sends the store the events that it missed while it was unavailable.
        func catchUp(at now: WallTime) {
            if state.withLock({ $0.isAhead && !$0.isAtStore }) { _ = carryOut(.follow, now: now, for: nil) }
        }

        /// The time of the next `wake`.
        func nextWake(after now: WallTime) -> WallTime? {
            state.withLock { $0.credential == nil ? nil : $0.account.nextWake(after: now) }
        }

        /// Ends all waits.
        ///
        /// - Parameter isReplaced: whether the credential has another value; else the account makes room for another one.
        func dissolve(isReplaced: Bool) {
            let waiting = state.withLock { state in
                state.isReplaced = isReplaced
                let waiting = Array(state.waiters.values)
                state.waiters = [:]
                state.isDissolved = true
                state.seat.forgetWaiting()
                for evidence in state.evidences.values { evidence.isSettled.store(false, ordering: .releasing) }
                // Each of them retains this ledger.
                state.evidences = [:]
                return waiting
            }
            if account.isTroubled { context.noteTroubled(-1) }
            for waiter in waiting { waiter.promise.keep(.refused(.superseded, nextTry: nil)) }
        }

        // MARK: - Carrying out

        /// - Parameter id: the number of the request whose decision is returned, if it is known at once.
        private func carryOut(_ event: Event, now: WallTime, for id: Int?) -> Evidence.Admission? {
            latest.store(max(now, latestEvent), ordering: .relaxed)
            if state.withLock({ $0.isDissolved }) { return .refused(.superseded, nextTry: nil) }
            let isShared = context.journal != nil
            var (decisions, begins) = (nil as [Account.Decision]?, false)
            _ = change(isOurs: !event.isReset, by: event.client, at: now) { state in
                if isShared, state.isAtStore || !state.isOnlyHere(event) {
                    state.events.append(event)
                    begins = !state.isAtStore
                    state.isAtStore = true
                    // Answers from now on were not in flight at the refusal, though the store does not know of it yet.
                    if event.isRefusal { state.settleEvidences() }
                    return false
                }
                let before = state.account
                state.seat.sent = places.add(Self.placesOfEvent, ordering: .relaxed).oldValue
                decisions = event.happen(to: &state.account, by: &state.seat, at: now)
                return state.account != before
            }
            if let decisions { return deliver(decisions, to: id, now: now) }
            context.noteChange()
            if begins { Task { await self.workThroughEvents() } }
            return nil
        }

        /// A limit above the number of answers that one event sends.
        private static let placesOfEvent = 1 << 20

        /// Changes the state, and informs all observers.
        ///
        /// - Parameters:
        ///   - isOurs: whether this process logs the change. A command that resets an account logs it itself.
        ///   - client: the client whose request caused the change; nil if none did.
        private func change(isOurs: Bool, by client: ClientIdentity?, at now: WallTime, _ change: (inout State) -> Bool)
            -> Bool
        {
            var found: [Account.Ledger.ToldHolds.Found] = []
            let (before, after, isIdentity) = state.withLock { state -> (Account, Account?, Bool) in
                let before = state.account
                guard !state.isDissolved, change(&state) else { return (before, nil, false) }
                state.settleEvidences()
                let isOfOne = version.isGrant || state.credential?.principal != nil
                found = state.told.changes(from: before, to: state.account, ofOneServer: isOfOne, now: now)
                return (before, state.account, state.credential?.identity != nil)
            }
            guard let after else { return false }
            if let next = nextWake(after: latestEvent) { context.wake(at: next) }
            if before.isTroubled != after.isTroubled { context.noteTroubled(after.isTroubled ? 1 : -1) }
            context.noteChange()
            context.note(
                found.map { found in
                    Change(
                        kind: found.kind, version: version, server: found.server, standing: found.standing,
                        reason: found.server.flatMap(after.record(of:))?.reason, isIdentity: isIdentity, isOurs: isOurs,
                        client: client, time: now)
                })
            return true
        }

        /// Delivers decisions to their requests.
        private func deliver(_ decisions: [Account.Decision], to id: Int?, now: WallTime) -> Evidence.Admission? {
            var own: Evidence.Admission?
            for decision in decisions {
                switch decision {
                case .send(let answer, let sample):
                    state.withLock { $0.account.noteSending(now) }
                    let attempt = Evidence.Attempt(answer, evidence(at: answer.server))
                    if sample == nil {
                        tell(.send(attempt), to: answer.id, own: id, &own)
                    } else if let sample, let credential = state.withLock({ $0.credential }) {
                        context.ask(Evidence.Probe(attempt: attempt, credential: credential, sample: sample))
                    }
                case .wait: break
                case .refuse(let request, let hold):
                    guard let waiter = state.withLock({ $0.waiters[request] }) else { continue }
                    let nextTry = account.nextTry(after: hold, at: waiter.server, now: now)
                    tell(.refused(hold, nextTry: nextTry), to: request, own: id, &own)
                }
            }
            return own
        }

        private func tell(
            _ admission: Evidence.Admission, to request: Int, own: Int?, _ ownAdmission: inout Evidence.Admission?
        ) {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: request) }
            if request == own { ownAdmission = admission } else { waiter?.promise.keep(admission) }
        }

        // MARK: - The store

        private func workThroughEvents() async {
            while let events = takeEvents() {
                let now = latestEvent
                let (seat, own) = state.withLock { state in
                    state.seat.sent = places.add(Self.placesOfEvent, ordering: .relaxed).oldValue
                    return (
                        state.seat,
                        Shared(version, broughtBy: state.owner, state.account, revision: state.revision)
                    )
                }
                let changed = await context.journal?.change(own) { account in
                    // The store no longer has the account, or removes it behind this change.
                    if self.state.withLock({ $0.isReplaced }) { return nil }
                    var (seat, decisions) = (seat, [Account.Decision]())
                    for event in events { decisions += event.happen(to: &account, by: &seat, at: now) }
                    return (seat, decisions)
                }
                var decisions: [Account.Decision] = []
                // If several requests were judged together, the change belongs to the latest.
                let client = events.last { $0.client != nil }?.client
                _ = change(isOurs: !events.contains(where: \.isReset), by: client, at: now) { state in
                    if let changed {
                        (state.account, state.seat, state.revision) = (changed.account, changed.seat, changed.revision)
                        decisions = changed.decisions
                        state.isAhead = false
                        state.seat.forgetWaiting { state.waiters[$0] == nil }
                    } else {
                        // The store is unavailable: this process counts alone.
                        state.isAhead = true
                        for event in events {
                            decisions += event.happen(to: &state.account, by: &state.seat, at: now)
                        }
                    }
                    return true
                }
                _ = deliver(decisions, to: nil, now: now)
            }
        }

        /// - Returns: nil without events; the next event then begins the work again.
        private func takeEvents() -> [Event]? {
            let events = state.withLock { state in
                defer { state.events = [] }
                if state.events.isEmpty {
                    state.isAtStore = false
                    state.settleEvidences()
                }
                return state.events
            }
            // Another process may have changed the account, and waiting requests must learn of it.
            if !events.isEmpty { return events + [.follow] }
            // A request that came meanwhile has noted that the version is not simply good.
            context.noteChange()
            return nil
        }
    }
}

extension Account.Ledger.State {
    /// Whether requests send the version to the server without asking.
    func isGood(at server: String) -> Bool { !isAtStore && !isDissolved && account.isGood(at: server) }

    /// Updates the evidence of each server: whether the version is good there.
    func settleEvidences() {
        for (server, evidence) in evidences { evidence.isSettled.store(isGood(at: server), ordering: .releasing) }
    }

    /// Whether an event concerns only this process.
    func isOnlyHere(_ event: Account.Ledger.Event) -> Bool {
        switch event {
        case .request(let request): account.isGood(at: request.server)
        case .judge(let answer, let verdict, _, _, _):
            answer.role == .free
                && (verdict != .refused && account.isGood(at: answer.server)
                    || verdict == .none && seat.waiting.isEmpty)
        case .wake: account.nextWake(after: 0) == nil
        case .hurry: seat.waiting.isEmpty
        case .follow: seat.waiting.isEmpty && !isAhead
        case .reset: false
        }
    }
}
