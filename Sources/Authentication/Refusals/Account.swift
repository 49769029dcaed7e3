import Bytes

/// The knowledge about one version of a credential: its refused answers, and the verdicts of each server.
///
/// A version belongs to one user account, for every realm, path, method, scheme and client. A server's lock counts all
/// refused answers of that account. So this type has four *slots*. A refused answer takes one for half an hour. It
/// stays a doubt until any server accepts a later answer. The server that refused it may have an account of its own:
/// there the doubt stays until this server accepts an answer. Each server that has judged the version has a *record*.
/// Rules:
///
/// - **good**: accepted here before, no slot is taken, and this server has not refused it since. All requests may send
///   the version.
/// - **doubted**: accepted here before, and a slot is taken, or this server has refused it since. One leader asks the
///   server by a request that was accepted before (a *probe*); the others wait for its verdict.
/// - **paused**: a leader was refused here. One try is made when it is due, after growing intervals.
/// - **unknown**: never accepted here. One leader sends it, and the others wait.
///
/// A value without I/O and clock: the caller passes events with the time, and carries out the decisions. All replicas
/// of a store share it; a replica's own part is its `Seat`.
public struct Account: Sendable, Hashable {
    /// The refused answers that count, the oldest first.
    public internal(set) var slots: [Slot] = []
    /// The records of servers, in the order in which they were first asked.
    public internal(set) var records: [Record] = []
    /// The leaders' answers in flight, each of which may take a slot. An overdue answer does not keep others from
    /// leading, but its room stays taken: the server may have refused it, or still do so.
    var reservations: [Reservation] = []
    /// The count of refusals and pauses. A replica that has seen number N knows of all up to N.
    public internal(set) var number = 0
    /// Whether any server has accepted the version.
    public internal(set) var isProven = false
    /// The refused answers of a version that no server has accepted.
    public internal(set) var unprovenRefusals = 0
    /// The time from which a refused version that no server has accepted may be sent again.
    public internal(set) var unprovenTry: WallTime = 0
    /// The server and target of the latest refusal of such a version; nil if none.
    var unprovenPlace: Place?
    /// The time of the first pause since the slots were last clear; nil if none.
    var firstPause: WallTime?
    /// Whether an earlier value of the credential was accepted. A server may learn of a new value later than the proxy.
    public internal(set) var isRotated = false
    /// The times at which this value was first seen and last sent; 0: not known. They have no effect on decisions.
    public internal(set) var since: WallTime = 0
    public internal(set) var lastSent: WallTime = 0
    /// The time at which the first slot was taken since the slots were last clear.
    var doubtedSince: WallTime = 0

    public init() {}

    /// Creates the account of a credential's new value. It keeps the samples of the former value. A server that
    /// accepted the former value may learn of the new one later than the proxy. So it tries again a minute after a
    /// first refusal.
    public init(after former: Account) {
        isRotated = former.isProven || former.isRotated
        records = former.records.filter { $0.isKnown || $0.wasKnown }.map { record in
            var next = Record(record.server)
            next.wasKnown = true
            next.samples = record.samples
            return next
        }
    }

    // MARK: - Events

    /// Handles a request that needs the version.
    ///
    /// - Returns: decisions about this request, and about others that it causes. A request that must wait gets its
    ///   decision from a later event.
    public mutating func request(_ request: Request, by seat: inout Seat, at now: WallTime) -> [Decision] {
        let index = recordIndex(of: request.server)
        records[index].retry = request.retry
        records[index].mayProbe = request.mayProbe
        records[index].fixedSample = request.fixedSample
        expire(now)
        return decide(request, index, by: &seat, at: now)
    }

    /// Handles a server's verdict on an answer.
    ///
    /// - Parameters:
    ///   - sample: the accepted request, if the proxy can repeat it; nil: it cannot, or it is the proxy's own.
    ///   - reason: the reason of a refusal, for an operator.
    /// - Returns: decisions about requests that waited for the verdict.
    public mutating func judge(
        _ answer: SentAnswer, _ verdict: Verdict, sample: Sample? = nil, because reason: String? = nil,
        by seat: inout Seat, at now: WallTime
    ) -> [Decision] {
        expire(now)
        let index = recordIndex(of: answer.server)
        reservations.removeAll { $0.id == answer.reservation }
        let isLeader = records[index].leader == answer.reservation
        if isLeader { records[index].leader = nil }
        switch verdict {
        case .accepted:
            if !records[index].isKnown { records[index].lastAccepted = now }
            accept(answer, sample, index)
            // The intervals are shorter for a server that has accepted the version.
            followClock(now)
            if isLeader, answer.role.isRetrial { records[index].clearances &+= 1 }
        case .refused:
            records[index].reason = reason
            records[index].lastRefused = now
            refuse(answer, index, by: seat, at: now)
        case .none: leaveOpen(answer, index, by: seat, at: now)
        case .abandoned: break
        }
        return decideAgain(by: &seat, at: now)
    }

    /// Handles the time that `nextWake` named.
    ///
    /// - Returns: the probes that are due.
    public mutating func wake(by seat: inout Seat, at now: WallTime) -> [Decision] {
        expire(now)
        var decisions: [Decision] = []
        let byTime = records.indices.sorted { left, right in
            (records[left].pause?.nextTry ?? .distantFuture, left)
                < (records[right].pause?.nextTry ?? .distantFuture, right)
        }
        for index in byTime {
            let record = records[index]
            guard let pause = record.pause, record.isKnown, now >= pause.nextTry, record.leader == nil, record.canProbe
            else { continue }
            if allows(.retry, index, at: now) {
                decisions += probe(index, as: .retry, by: &seat, at: now)
            } else if usedSlots(at: now) == 3, isLastSlotFree(at: now),
                // The last slot is for a server that probably accepts the version.
                let good = records.indices.first(where: { records[$0].isDoubtedAtMost && records[$0].leader == nil })
            {
                decisions += probe(good, as: .doubt, by: &seat, at: now)
            }
        }
        return decisions + decideAgain(by: &seat, at: now)
    }

    /// The time of the next `wake`; nil: an event comes first.
    public func nextWake(after now: WallTime) -> WallTime? {
        // A verdict is an event. If a leader's replica has died, others lead when its reservation ends.
        let end = reservations.lazy.map(\.end).filter { $0 > now }.min()
        let due = records.compactMap { record -> WallTime? in
            guard let pause = record.pause, record.isKnown, record.leader == nil, record.canProbe,
                pause.nextTry != .distantFuture
            else { return nil }
            return pause.nextTry
        }.min()
        let times = [due.map { $0 > now ? $0 : nextRoom(after: now) }, end].compactMap(\.self)
        return times.min().map { max($0, now) }
    }

    /// The time at which there is room for a due try, unless an event comes first.
    private func nextRoom(after now: WallTime) -> WallTime {
        let ends = takenSlots(at: now).map { $0.time + Self.slotTime } + reservations.map(\.roomEnd)
        let room = ends.count < 3 ? now : ends.min() ?? now
        let last = ends.count == 3 && !isAnyUnderWay(at: now) ? firstPause.map { $0 + firstStep } : nil
        return max(now + 50, min(room, last ?? .distantFuture))
    }

    /// Handles a long wait for a leader that was never accepted there, or whose client has left. A waiting request
    /// leads beside it, if there is room. The server may be slow with that one request.
    public mutating func hurry(at server: String, by seat: inout Seat, at now: WallTime) -> [Decision] {
        expire(now)
        let index = recordIndex(of: server)
        guard !records[index].isKnown, let next = seat.waiting.first(where: { $0.request.server == server })?.request
        else { return [] }
        let hasRoom =
            isProven
            ? allows(.unknown, index, at: now) && !records[index].refusedTargets.contains(next.target)
            : !isRotated && unprovenRefusals + reservations.count < 2
        guard hasRoom, seat.remove(next.id) else { return [] }
        let role: SentAnswer.Role = isProven ? records[index].pause == nil ? .unknown : .retry : .unproven
        return send(next, index, as: role, by: &seat, at: now)
    }

    /// Handles a change of the account at another replica.
    ///
    /// - Returns: decisions about waiting requests of this replica.
    public mutating func follow(by seat: inout Seat, at now: WallTime) -> [Decision] {
        expire(now)
        return decideAgain(by: &seat, at: now)
    }

    // MARK: - Decisions

    private mutating func decide(_ request: Request, _ index: Int, by seat: inout Seat, at now: WallTime) -> [Decision]
    {
        let record = records[index]
        if let pause = record.pause {
            let isDue = now >= pause.nextTry && record.leader == nil
            if isDue, !record.isKnown { return introduce(request, index, as: .retry, by: &seat, at: now) }
            if isDue, !record.canProbe, allows(.retry, index, at: now) {
                return send(request, index, as: .retry, by: &seat, at: now)
            }
            if record.mayAskOpenly, record.leader == nil {
                return introduce(request, index, as: .open, by: &seat, at: now)
            }
            return record.leader == nil ? [.refuse(request.id, .paused)] : wait(request, index, by: &seat)
        }
        if record.isKnown {
            if isGood(at: request.server) { return [.send(seat.send(request, as: .free, knowing: number), nil)] }
            return wait(request, index, by: &seat) + lead(index, by: &seat, at: now)
        }
        if !isProven { return decideUnproven(request, index, by: &seat, at: now) }
        if record.leader != nil { return wait(request, index, by: &seat) }
        if record.refusedTargets.contains(request.target), now < record.unknownTry {
            return [.refuse(request.id, .unknown)]
        }
        return introduce(request, index, as: .unknown, by: &seat, at: now)
    }

    /// Decides about a version that no server has accepted. Two answers are sent, at two targets or servers. If the
    /// version replaced an accepted one, two answers are sent a minute apart, at any target. After that the intervals
    /// are long.
    private mutating func decideUnproven(
        _ request: Request, _ index: Int, by seat: inout Seat, at now: WallTime
    ) -> [Decision] {
        let place = Place(server: request.server, target: request.target)
        let mayBeSent =
            if unprovenRefusals >= 2 {
                now >= unprovenTry && reservations.isEmpty
            } else if unprovenRefusals + reservations.count >= 2 {
                false
            } else if isRotated {
                now >= unprovenTry && !isAnyUnderWay(at: now)
            } else {
                (unprovenPlace != place || now >= unprovenTry) && records[index].leader == nil
            }
        if mayBeSent { return send(request, index, as: .unproven, by: &seat, at: now) }
        return isAnyUnderWay(at: now) ? wait(request, index, by: &seat) : [.refuse(request.id, .unproven)]
    }

    /// Decides about a request to a server that has never accepted the version, or whose samples may be gone. While a
    /// slot is taken, a server that has accepted the version is asked first: its acceptance clears the account.
    private mutating func introduce(
        _ request: Request, _ index: Int, as role: SentAnswer.Role, by seat: inout Seat, at now: WallTime
    ) -> [Decision] {
        if !slots.isEmpty, let good = goodRecord(besides: index) {
            let waits = wait(request, index, by: &seat)
            if allows(.doubt, good, at: now), records[good].leader == nil {
                return waits + probe(good, as: .doubt, by: &seat, at: now)
            }
            return waits + (isAnyUnderWay(at: now) ? [] : refuseAll(waitingAt: request.server, by: &seat))
        }
        if allows(.unknown, index, at: now) { return send(request, index, as: role, by: &seat, at: now) }
        return isAnyUnderWay(at: now) ? wait(request, index, by: &seat) : [.refuse(request.id, .held)]
    }

    /// Asks a server where the version is doubted, by a probe or else by one of the requests that wait there.
    private mutating func lead(_ index: Int, by seat: inout Seat, at now: WallTime) -> [Decision] {
        let record = records[index]
        if record.leader != nil { return [] }
        guard allows(.doubt, index, at: now) else {
            // The verdict on an answer in flight will decide.
            return isAnyUnderWay(at: now) ? [] : refuseAll(waitingAt: record.server, by: &seat)
        }
        if record.canProbe { return probe(index, as: .doubt, by: &seat, at: now) }
        guard let leader = seat.takeFirst(waitingAt: record.server) else { return [] }
        return send(leader, index, as: .doubt, by: &seat, at: now)
    }

    private func wait(_ request: Request, _ index: Int, by seat: inout Seat) -> [Decision] {
        seat.add(request, clearances: records[index].clearances)
        return [.wait(request.id)]
    }

    private mutating func send(
        _ request: Request, _ index: Int, as role: SentAnswer.Role, by seat: inout Seat, at now: WallTime,
        sample: Sample? = nil
    ) -> [Decision] {
        number &+= 1
        var answer = seat.send(request, as: role, knowing: number)
        answer.reservation = Reservation.ID(replica: seat.replica, sent: answer.sent)
        let end = now + Self.reservationTime
        reservations.append(Reservation(id: answer.reservation, server: request.server, number: number, end: end))
        records[index].leader = answer.reservation
        if role == .open { records[index].mayAskOpenly = false }
        answer.isProbe = sample != nil
        return [.send(answer, sample)]
    }

    private mutating func probe(
        _ index: Int, as role: SentAnswer.Role, by seat: inout Seat, at now: WallTime
    ) -> [Decision] {
        guard let sample = records[index].nextSample() else { return [] }
        let request = Request(id: seat.nextID(), server: records[index].server, target: sample.target)
        return send(request, index, as: role, by: &seat, at: now, sample: sample)
    }

    private func refuseAll(waitingAt server: String, by seat: inout Seat) -> [Decision] {
        seat.take(waitingAt: server).map { .refuse($0.request.id, .held) }
    }

    /// Lets requests continue that waited for a leader's acceptance, even if others were refused meanwhile: those
    /// answers were already in flight.
    private mutating func decideAgain(by seat: inout Seat, at now: WallTime) -> [Decision] {
        var decisions: [Decision] = []
        for server in seat.serversWaitedFor {
            let index = recordIndex(of: server)
            for waiting in seat.take(waitingAt: server) {
                if records[index].clearances > waiting.clearances, records[index].pause == nil {
                    decisions.append(.send(seat.send(waiting.request, as: .free, knowing: 0), nil))
                } else {
                    decisions += decide(waiting.request, index, by: &seat, at: now)
                }
            }
        }
        return decisions
    }

    // MARK: - Verdicts

    private mutating func accept(_ answer: SentAnswer, _ sample: Sample?, _ index: Int) {
        isProven = true
        (unprovenRefusals, unprovenPlace) = (0, nil)
        records[index].accept(answer)
        // With many servers each keeps one sample, since all are written to the store together.
        if let sample { records[index].add(sample, limit: max(1, Self.sampleLimit / records.count)) }
        slots.removeAll { $0.isCleared(by: answer) }
        if slots.isEmpty { firstPause = nil }
        for place in reservations.indices where reservations[place].isBefore(answer) {
            reservations[place].isCleared = true
        }
    }

    private mutating func refuse(_ answer: SentAnswer, _ index: Int, by seat: Seat, at now: WallTime) {
        takeSlot(answer, index, at: now)
        records[index].markSample(of: answer.target, asRefused: true)
        let record = records[index]
        if let pause = record.pause, !pause.isBefore(answer) { return }
        switch answer.role {
        case .free, .open: break
        case .unproven:
            unprovenRefusals &+= 1
            unprovenPlace = Place(server: answer.server, target: answer.target)
            unprovenTry =
                unprovenRefusals < 2 && isRotated
                ? now + Self.rotationTime : now + Self.step(unprovenRefusals - 2, of: Self.longSteps)
        case .unknown:
            records[index].refusedTargets.append(answer.target)
            records[index].unknownTry = now + Self.longSteps[0]
            if record.wasKnown || records[index].refusedTargets.count >= 2 { pause(index, step: 0, by: seat, at: now) }
        case .doubt: pause(index, step: 0, by: seat, at: now)
        case .retry:
            // The page of the sample may be gone: then only a client's request can show that the version is good.
            records[index].mayAskOpenly = answer.isProbe && (record.pause?.step ?? 0) >= 2
            pause(index, step: record.pause.map { $0.step &+ 1 } ?? 0, by: seat, at: now)
        }
    }

    /// Handles an answer without a verdict.
    private mutating func leaveOpen(_ answer: SentAnswer, _ index: Int, by seat: Seat, at now: WallTime) {
        if let pause = records[index].pause, !pause.isBefore(answer) { return }
        switch answer.role {
        case .doubt:
            records[index].indecisions &+= 1
            if records[index].indecisions >= 3 { pause(index, step: 0, by: seat, at: now) }
        case .retry:
            if let former = records[index].pause { pause(index, step: former.step, by: seat, at: now) }
        case .free, .unproven, .unknown, .open: break
        }
    }

    /// Takes a slot for a refusal. If the answer was sent before its sender knew of the oldest refusal, it was in
    /// flight at that time. It then shares the newest slot.
    private mutating func takeSlot(_ answer: SentAnswer, _ index: Int, at now: WallTime) {
        number &+= 1
        let slot = Slot(
            time: now, id: number, refusals: [Slot.Refusal(replica: answer.replica, sent: answer.sent, id: number)])
        if slots.isEmpty { doubtedSince = now }
        if slots.first.map({ $0.id > answer.knew }) ?? false {
            slots[slots.count - 1].add(slot)
        } else {
            slots = (slots + [slot]).suffix(Self.slotLimit)
        }
        guard records[index].isKnown else { return }
        if records[index].doubt == nil { records[index].doubt = slot } else { records[index].doubt?.add(slot) }
    }

    private mutating func pause(_ index: Int, step: Int, by seat: Seat, at now: WallTime) {
        let record = records[index]
        // This leader took so long that another one leads, whose verdict decides.
        if record.leader != nil { return }
        if record.isKnown, firstPause == nil { firstPause = now }
        number &+= 1
        records[index].pause = Pause(
            since: record.pause?.since ?? now, nextTry: nextTry(of: record, step: step, after: now),
            step: step, number: number, replica: seat.replica, sent: seat.sent)
    }

    private func nextTry(of record: Record, step: Int, after now: WallTime) -> WallTime {
        let steps =
            record.isKnown ? record.retry : record.wasKnown ? [Self.rotationTime] + Self.longSteps : Self.longSteps
        return steps.isEmpty ? .distantFuture : now + Self.step(step, of: steps)
    }

    // MARK: - Room

    /// The number of slots used at that time, and of leaders' answers without a verdict.
    func usedSlots(at now: WallTime) -> Int { takenSlots(at: now).count + reservations.count }

    func takenSlots(at now: WallTime) -> [Slot] { slots.filter { now - $0.time < Self.slotTime } }

    /// Whether there is room for an answer in that role.
    private func allows(_ role: SentAnswer.Role, _ index: Int, at now: WallTime) -> Bool {
        let used = usedSlots(at: now)
        if role == .unknown { return used < 2 }
        // The version is doubted only because this server refused it: as many leaders may ask it as there is room for
        // answers.
        if used < 3 || role == .doubt && slots.isEmpty { return true }
        // If one server is slow with its first answers, a leader at another server has room.
        if used == 3, role == .doubt, Set(reservations.map(\.server)).count < reservations.count { return true }
        guard used == 3, isLastSlotFree(at: now) else { return false }
        return role != .retry || goodRecord(besides: index) == nil
    }

    /// Whether the last slot may be used: it is for the first try after a pause.
    func isLastSlotFree(at now: WallTime) -> Bool {
        firstPause.map { now >= $0 + firstStep } ?? false
    }

    /// Whether a leader's verdict is pending.
    func isAnyUnderWay(at now: WallTime) -> Bool { reservations.contains { now < $0.end } }

    var firstStep: Milliseconds { records.compactMap(\.retry.first).min() ?? Self.shortSteps[0] }

    /// A server that has accepted the version, has not refused a leader since, and can be probed.
    private func goodRecord(besides index: Int) -> Int? {
        records.indices.first { $0 != index && records[$0].isDoubtedAtMost }
    }

    private mutating func expire(_ now: WallTime) {
        followClock(now)
        let ended = reservations.filter { $0.end <= now }
        if ended.isEmpty { return }
        for index in records.indices where ended.contains(where: { $0.id == records[index].leader }) {
            records[index].leader = nil
        }
        // The last slot is for the verdicts that a dead replica did not report.
        if let first = ended.first, firstPause == nil { firstPause = first.end - Self.reservationTime }
        reservations.removeAll { $0.roomEnd <= now }
    }

    /// Corrects times after the clock was set back or a rule's `retry` changed. A hold never lasts longer than one that
    /// begins now.
    private mutating func followClock(_ now: WallTime) {
        for index in slots.indices { slots[index].time = min(slots[index].time, now) }
        for index in reservations.indices {
            reservations[index].end = min(reservations[index].end, now + Self.reservationTime)
        }
        if let time = firstPause { firstPause = min(time, now) }
        if unprovenRefusals > 0 {
            unprovenTry = min(unprovenTry, now + Self.step(unprovenRefusals - 2, of: Self.longSteps))
        }
        for index in records.indices {
            guard let pause = records[index].pause else { continue }
            let latest = nextTry(of: records[index], step: pause.step, after: now)
            if latest < pause.nextTry { records[index].pause?.nextTry = latest }
        }
    }

    /// The record of a server, created if it is missing.
    private mutating func recordIndex(of server: String) -> Int {
        if let index = records.firstIndex(where: { $0.server == server }) { return index }
        if records.count >= Self.recordLimit { removeRecord() }
        records.append(Record(server))
        return records.count - 1
    }

    /// Notes that a server has accepted the version in an earlier process.
    ///
    /// - Returns: whether that was new.
    mutating func learn(of server: String) -> Bool {
        let index = recordIndex(of: server)
        if records[index].isKnown { return false }
        records[index].isKnown = true
        isProven = true
        (unprovenRefusals, unprovenPlace) = (0, nil)
        return true
    }

    /// Notes that a server has accepted a ticket obtained with the version. That clears no slot.
    ///
    /// - Returns: whether that was new.
    mutating func learnOfTickets(at server: String) -> Bool {
        let index = recordIndex(of: server)
        defer { records[index].takesTickets = true }
        return !records[index].takesTickets
    }

    /// Removes a record, of a server that has not accepted the version if possible: a client can invent names of
    /// servers.
    private mutating func removeRecord() {
        let worth = { (record: Record) in
            if record.leader != nil { return 3 }
            return record.isKnown || record.wasKnown ? 2 : record.pause == nil && !record.takesTickets ? 0 : 1
        }
        guard let index = records.indices.min(by: { worth(records[$0]) < worth(records[$1]) }) else { return }
        records.remove(at: index)
    }

    /// The record of a server; nil: the server has not judged the version.
    public func record(of server: String) -> Record? { records.first { $0.server == server } }

    /// Whether requests send the version to the server without asking: it was accepted there, and is not doubted.
    public func isGood(at server: String) -> Bool {
        guard slots.isEmpty, let record = record(of: server) else { return false }
        return record.isKnown && record.pause == nil && record.doubt == nil
    }

    // MARK: - Figures

    static let slotLimit = 4
    /// The duration of a slot. Directories count refused logins for about as long.
    public static let slotTime: Milliseconds = .minutes(30)
    /// The intervals of tries at a server that has accepted the version before.
    public static let shortSteps: [Milliseconds] = [.seconds(30), .minutes(5), .minutes(30)]
    /// The intervals of tries at a server that has never accepted the version: half an hour up to a day.
    static let longSteps = [30, 60, 120, 240, 480, 960, 1440].map { Milliseconds.minutes($0) }
    /// The time that others wait for a leader, since its replica may have died.
    static let reservationTime: Milliseconds = .seconds(30)
    /// The time by which a server may learn of a new value later than the proxy.
    static let rotationTime: Milliseconds = .minutes(1)
    private static let recordLimit = 256
    /// The limit of samples of all servers together; each server may keep one.
    private static let sampleLimit = 64

    private static func step(_ index: Int, of steps: [Milliseconds]) -> Milliseconds {
        steps[min(max(0, index), steps.count - 1)]
    }
}
