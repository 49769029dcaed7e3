import Bytes

extension Account {
    /// The state of a version, at a server or over all, in the manual's words; the worst is last.
    public enum State: String, Sendable, CaseIterable {
        /// Requests send the version.
        case good
        /// No server has accepted or refused the version; or this server has not accepted it.
        case unknown
        /// The version was accepted here, and refused by some server since. One request asks the server, and the others
        /// wait.
        case doubted
        /// The account has no room for another refused answer.
        case held
        /// This server refused the version. One try is made when it is due.
        case paused
        /// The version was refused, and no server has ever accepted it.
        case unproven

        /// The order of states; a higher rank is worse.
        public var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The event that the next answer with a version must wait for.
    public enum NextTry: Sendable, Hashable {
        /// The next request.
        case request
        /// A time.
        case time(WallTime)
        /// A request for another target, or that time.
        case otherTarget(or: WallTime)
        /// A request to another server, or that time. The server that refused the version
        /// has only one target.
        case otherServer(or: WallTime)
        /// The verdict on an answer in flight.
        case verdict
        /// A new value, or the current one written again.
        case newValue

        /// The time; nil: no time is set.
        fileprivate var date: WallTime? {
            switch self {
            case .time(let time), .otherTarget(let time), .otherServer(let time): time
            case .request, .verdict, .newValue: nil
            }
        }

        /// A time for comparisons. A request may come at once, and a new value never.
        fileprivate var time: WallTime { date ?? (self == .newValue ? .distantFuture : 0) }
    }

    public struct Standing: Sendable, Hashable {
        public let state: State
        /// The beginning of the state; nil: unknown, or the version is not doubted.
        public let since: WallTime?
        public let nextTry: NextTry

        public static let good = Standing(.good)

        init(_ state: State, since: WallTime? = nil, _ nextTry: NextTry = .request) {
            self.state = state
            self.since = since
            self.nextTry = nextTry
        }

        /// Whether requests cannot use the version until another event.
        public var isOnHold: Bool {
            switch (state, nextTry) {
            case (.held, .verdict): false
            case (.paused, _), (.held, _), (.unproven, .time), (.unproven, .otherServer), (.unknown, .time): true
            default: false
            }
        }

        /// Whether the version is doubted.
        public var isTroubled: Bool {
            switch state {
            case .good: false
            case .unknown: nextTry != .request
            case .doubted, .held, .paused, .unproven: true
            }
        }
    }

    /// Whether the version is doubted by any server.
    public var isTroubled: Bool {
        !slots.isEmpty || unprovenRefusals > 0
            || records.contains { $0.pause != nil || $0.doubt != nil || !$0.refusedTargets.isEmpty }
    }

    /// The state at a server.
    public func standing(at server: String, now: WallTime) -> Standing {
        let record = record(of: server)
        if let pause = record?.pause {
            return Standing(
                .paused, since: pause.since, nextTry(at: pause.nextTry, ofKnown: record?.isKnown ?? false, now))
        }
        if !isProven { return unprovenStanding(at: now, of: server) }
        let isKnown = record?.isKnown ?? false
        if !isKnown || !slots.isEmpty, let room = room(forKnown: isKnown, at: now) {
            return Standing(.held, since: takenSlots(at: now).last?.time ?? now, room)
        }
        if !isKnown {
            guard let record, !record.refusedTargets.isEmpty else { return Standing(.unknown) }
            let time = nextTry(at: record.unknownTry, ofKnown: false, now).date
            let next = time ?? record.unknownTry
            let hasOthers = !record.refusedTargets.contains(Self.soleTarget)
            return Standing(.unknown, since: record.lastRefused, hasOthers ? .otherTarget(or: next) : .time(next))
        }
        if isGood(at: server) { return .good }
        return Standing(.doubted, since: slots.isEmpty ? record?.doubt?.time : doubtStart)
    }

    /// The worst state at any server.
    ///
    /// - Parameter isOfOne: whether one server alone judges the version: a grant's token endpoint, or a principal's
    ///   KDC.
    public func standing(now: WallTime, ofOneServer isOfOne: Bool = false) -> Standing {
        if !isProven {
            let isTicketed = unprovenRefusals == 0 && records.contains { $0.takesTickets }
            return isTicketed ? .good : unprovenStanding(at: now, ofOneServer: isOfOne)
        }
        let standings = records.filter { $0.isKnown || $0.pause != nil || !$0.refusedTargets.isEmpty }
            .map { standing(at: $0.server, now: now) }
        let worst = standings.max { left, right in
            left.state.rank != right.state.rank
                ? left.state.rank < right.state.rank : left.nextTry.time > right.nextTry.time
        }
        return worst ?? (slots.isEmpty ? .good : Standing(.doubted, since: doubtStart))
    }

    /// - Parameter server: nil: the state over all.
    private func unprovenStanding(
        at now: WallTime, of server: String? = nil, ofOneServer isOfOne: Bool = false
    ) -> Standing {
        // The answers of a dead replica may have been refused. If another answer is in flight, requests wait for its
        // verdict.
        let lost = isAnyUnderWay(at: now) ? [] : reservations.map(\.roomEnd).sorted()
        if unprovenRefusals == 0, lost.count < 2 { return Standing(.unknown) }
        let isOpen = unprovenRefusals < 2 && unprovenRefusals + lost.count < 2
        let since = doubtStart ?? reservations.first?.end
        if isOpen, !isRotated {
            let sole = unprovenPlace.flatMap { $0.target == Self.soleTarget ? $0.server : nil }
            let next: NextTry =
                if sole == nil {
                    .otherTarget(or: unprovenTry)
                } else {
                    sole == server || isOfOne ? .time(unprovenTry) : .otherServer(or: unprovenTry)
                }
            return Standing(.unproven, since: since, next)
        }
        let room = isOpen ? nil : unprovenRefusals >= 2 ? lost.last : lost.dropLast(1 - unprovenRefusals).last
        return Standing(.unproven, since: since, .time(max(unprovenTry, room ?? 0)))
    }

    /// The next try. A try at that time is made once the account has room for it.
    private func nextTry(at time: WallTime, ofKnown isKnown: Bool, _ now: WallTime) -> NextTry {
        if time == .distantFuture { return .newValue }
        return switch room(forKnown: isKnown, at: max(time, now)) {
        case .time(let room): .time(max(time, room))
        case .verdict where time <= now: .verdict
        default: .time(time)
        }
    }

    private var doubtStart: WallTime? { doubtedSince > 0 ? doubtedSince : slots.first?.time }

    /// The event after which the account has room for an answer at a server; nil: it has room.
    private func room(forKnown isKnown: Bool, at now: WallTime) -> NextTry? {
        // A server that probably accepts the version is asked first.
        if !isKnown, !slots.isEmpty, records.contains(where: \.isDoubtedAtMost) {
            return room(forKnown: true, at: now)
        }
        let count = usedSlots(at: now)
        guard count >= (isKnown ? 3 : 2) else { return nil }
        if isKnown, count == 3, isLastSlotFree(at: now) { return nil }
        if isAnyUnderWay(at: now) { return .verdict }
        let ends = (takenSlots(at: now).map { $0.time + Self.slotTime } + reservations.map(\.roomEnd)).sorted()
        if isKnown, count == 3, let firstPause {
            let last = firstPause + firstStep
            return .time(min(last, ends.first ?? last))
        }
        let place = count - (isKnown ? firstPause == nil ? 3 : 4 : 2)
        return ends.indices.contains(place) ? .time(ends[place]) : nil
    }

    /// The end of a hold on the version at a server; `distantFuture` without a set time. Nil: a
    /// request would send the version, or wait for another's verdict.
    ///
    /// - Parameter target: nil: a new target.
    public func hold(at server: String, for target: UInt64? = nil, now: WallTime) -> WallTime? {
        if isGood(at: server) { return nil }
        var (account, seat) = (self, Seat(replica: 0))
        var request = Request(id: 0, server: server, target: target ?? 0)
        if let record = record(of: server) {
            (request.retry, request.mayProbe, request.fixedSample) = (record.retry, record.mayProbe, record.fixedSample)
        }
        for case .refuse(request.id, let hold) in account.request(request, by: &seat, at: now) {
            return nextTry(after: hold, at: server, now: now) ?? .distantFuture
        }
        return nil
    }

    /// The time from which a held version may be sent; nil: no time is set.
    func nextTry(after hold: Hold, at server: String, now: WallTime) -> WallTime? {
        switch hold {
        case .superseded: nil
        case .unknown: record(of: server).flatMap { nextTry(at: $0.unknownTry, ofKnown: false, now).date }
        case .unproven, .paused, .held: standing(at: server, now: now).nextTry.date
        }
    }

    /// Notes that an answer with the version was sent.
    mutating func noteSending(_ now: WallTime) {
        lastSent = now
        if since == 0 { since = now }
    }

    /// Notes that a server has accepted the version.
    mutating func noteAcceptance(at server: String, _ now: WallTime) {
        if let index = records.firstIndex(where: { $0.server == server }) { records[index].lastAccepted = now }
    }

    /// Resets the account, and decides about the waiting requests.
    mutating func reset(by seat: inout Seat, at now: WallTime) -> [Decision] {
        reset()
        return follow(by: &seat, at: now)
    }

    /// Creates the account of a token that replaces an equivalent one.
    public init(renewing former: Account) {
        self.init()
        isProven = former.isProven
        records = former.records.filter(\.isKnown).map { record in
            var next = Record(record.server)
            (next.isKnown, next.samples) = (true, record.samples)
            return next
        }
    }
}
