import Bytes

#if canImport(Authentication)
@testable import Authentication
#endif

extension World {
    /// A number that is the same for worlds that go on in the same way.
    ///
    /// The account compares numbers of refusals and pauses with each other, and places in a replica's order of sending. So
    /// each counts by its rank alone. Times count by their distance from now, as far as a step looks back or ahead.
    var fingerprint: UInt64 {
        var print = Fingerprint()
        let numbers = Ranks(of: replicas.account.numbers + underWay.map(\.answer.knew) + replicas.copies.map(\.number))
        let places = Ranks(of: replicas.account.places + underWay.map(\.answer.sent))
        let servers = WorldSetting.names.prefix(setting.servers.count)
        let lastBeforePauses = servers.map { self.pauses.last(at: $0) }
        let orders = Ranks(of: underWay.map(\.order) + ([judge.run] + lastBeforePauses).compactMap { $0 })
        for last in lastBeforePauses { print.add(last.map { orders[$0] } ?? -1) }
        for server in servers { print.add(self.pauses.indecisions[server] ?? 0) }
        for accepts in accepts { print.add(accepts ? 1 : 0) }
        print.add(death == nil ? 0 : 1)
        add(judge, to: &print, orders)
        for answer in underWay { add(answer, to: &print, numbers, places, orders) }
        for asked in waiting {
            print.add(
                asked.replica, asked.server, Int(asked.page.target), asked.isPromised ? 1 : 0, min(asked.verdicts, 3))
            print.add(asked.hasNews ? 1 : 0)
        }
        for replica in replicas.indices { addSeat(replica, to: &print) }
        for copy in replicas.copies {
            print.add(numbers[copy.number])
            for name in servers { print.add(copy.isGood(at: name) ? 1 : 0) }
        }
        add(replicas.account, to: &print, numbers, places)
        if setting.learningTimes != nil { print.add(min(now, 200_000)) }
        return print.value
    }

    private func add(_ judge: Judge, to print: inout Fingerprint, _ orders: Ranks) {
        print.add(judge.run.map { orders[$0] } ?? -1, judge.wasAccepted ? 1 : 0, min(judge.unproven, 9))
        for time in judge.counted where now - time < Judge.lockoutTime { print.add(now - time) }
        print.add(-1, judge.unproven > 0 ? min(now - judge.lastUnproven, 24 * 60 * minute) : 0)
        for run in knownRuns { print.add(run != nil && run == judge.run ? 1 : 0) }
    }

    private func add(
        _ sent: UnderWay, to print: inout Fingerprint, _ numbers: Ranks, _ places: Ranks, _ orders: Ranks
    ) {
        let answer = sent.answer
        print.add(sent.server, Int(answer.target), answer.role.hashNumber, sent.replica, answer.isProbe ? 1 : 0)
        print.add(numbers[answer.knew], places[answer.sent], orders[sent.order], sent.verdict == .accepted ? 1 : 0)
        if setting.isSlow { print.add(now - sent.time) }
        print.add(sent.knownRun != nil && sent.knownRun == judge.run ? 1 : 0)
        print.add(replicas.account.reservations.firstIndex { $0.id == answer.reservation } ?? -1)
    }

    private func addSeat(_ replica: Int, to print: inout Fingerprint) {
        print.add(-2)
        for entry in replicas.seats[replica].waiting {
            let isReleased = replicas.account.record(of: entry.request.server).map { $0.clearances > entry.clearances }
            print.add(waiting.firstIndex { $0.id == entry.request.id && $0.replica == replica } ?? -1)
            print.add(isReleased ?? false ? 1 : 0, entry.request.wasAccepted ? 1 : 0)
        }
    }

    private func add(_ account: Account, to print: inout Fingerprint, _ numbers: Ranks, _ places: Ranks) {
        let seat = { (process: UInt64) in replicas.seats.firstIndex { $0.replica == process } ?? -1 }
        let add = { (refusals: [Account.Slot.Refusal], print: inout Fingerprint) in
            for refusal in refusals { print.add(seat(refusal.replica), places[refusal.sent], numbers[refusal.id]) }
        }
        for slot in account.slots {
            print.add(-3, min(clock - slot.time, Account.slotTime).count, numbers[slot.id])
            add(slot.refusals, &print)
        }
        for record in account.records {
            print.add(-4, WorldSetting.names.firstIndex(of: record.server) ?? -1, record.isKnown ? 1 : 0)
            print.add(record.indecisions, record.mayAskOpenly ? 1 : 0)
            print.add(account.reservations.firstIndex { $0.id == record.leader } ?? (record.leader == nil ? -1 : -2))
            if let doubt = record.doubt {
                print.add(-9)
                add(doubt.refusals, &print)
            }
            if let pause = record.pause {
                print.add(-5, max(0, pause.nextTry - clock).count, pause.step, numbers[pause.number])
                print.add(seat(pause.replica), places[pause.sent])
            }
            for target in record.refusedTargets { print.add(-6, Int(target), max(0, record.unknownTry - clock).count) }
            for sample in record.samples {
                print.add(-7, Int(sample.target), sample.wasRefused ? 1 : 0)
            }
        }
        for reservation in account.reservations {
            print.add(-8, (reservation.end - clock).count, numbers[reservation.number], reservation.isCleared ? 1 : 0)
            print.add(WorldSetting.names.firstIndex(of: reservation.server) ?? -1)
            print.add(seat(reservation.id.replica), places[reservation.id.sent])
        }
        print.add(account.isProven ? 1 : 0, min(account.unprovenRefusals, 9), max(0, account.unprovenTry - clock).count)
        if let place = account.unprovenPlace { print.add(place.server == "a" ? 0 : 1, Int(place.target)) }
        print.add(account.firstPause.map { min(clock - $0, 30_000).count } ?? -1)
    }
}

extension Account {
    /// The numbers of refusals and pauses that it compares.
    fileprivate var numbers: [Int] {
        (slots + records.compactMap(\.doubt)).flatMap { [$0.id] + $0.refusals.map(\.id) }
            + records.compactMap(\.pause?.number)
            + reservations.map(\.number) + [number]
    }

    /// The places in replicas' orders of sending.
    fileprivate var places: [Int] {
        (slots + records.compactMap(\.doubt)).flatMap { $0.refusals.map(\.sent) }
            + records.compactMap(\.pause?.sent) + reservations.map(\.id.sent)
    }
}

extension Account.SentAnswer.Role {
    fileprivate var hashNumber: Int {
        switch self {
        case .free: 0
        case .doubt: 1
        case .retry: 2
        case .open: 3
        case .unknown: 4
        case .unproven: 5
        }
    }
}

/// The place of each number among those that occur.
private struct Ranks {
    private let sorted: [Int]

    init(of numbers: [Int]) { sorted = Set(numbers).sorted() }

    subscript(number: Int) -> Int { sorted.firstIndex(of: number) ?? -1 }
}

/// A hash that is the same in each run, unlike `Hasher`.
private struct Fingerprint {
    private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func add(_ numbers: Int...) {
        for number in numbers {
            value = (value ^ UInt64(truncatingIfNeeded: number)) &* 0xFF51_AFD7_ED55_8CCD
            value ^= value >> 32
        }
    }
}
