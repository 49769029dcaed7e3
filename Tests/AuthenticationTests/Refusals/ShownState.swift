#if canImport(Authentication)
@testable import Authentication
#endif

/// What is shown of a version at a server (P4).
struct ShownState: CustomStringConvertible {
    enum Name { case good, doubted, paused, held, unknown, unproven }

    /// What a request waits for that is not sent now.
    enum Next: Hashable {
        case time(Int)
        case anotherTarget
        case verdictUnderWay
        /// The value has to be set anew.
        case newValue
        case nothing
    }

    let name: Name
    let next: Next?

    init(of account: Account, at server: String, at now: Int) {
        let record = account.record(of: server)
        let taken = account.takenSlots(at: now)
        let used = account.usedSlots(at: now)
        let isKnown = record?.isKnown ?? false
        if let pause = record?.pause {
            (name, next) = (.paused, pause.nextTry == .max ? .newValue : .time(pause.nextTry))
        } else if !account.isProven {
            let isTimed = account.unprovenRefusals >= (account.isRotated ? 1 : 2)
            let isUntried = account.slots.isEmpty && account.reservations.isEmpty
            (name, next) = (.unproven, isTimed ? .time(account.unprovenTry) : isUntried ? nil : .anotherTarget)
        } else if used >= 2, !isKnown || used >= 3 {
            if taken.count == 3, isKnown, let pause = account.firstPause, now < pause + Account.shortSteps[0] {
                (name, next) = (.held, .time(pause + Account.shortSteps[0]))
            } else {
                (name, next) = (.held, taken.first.map { .time($0.time + Account.slotTime) } ?? .verdictUnderWay)
            }
        } else if !isKnown {
            (name, next) = (.unknown, record?.refusedTargets.isEmpty ?? true ? nil : .anotherTarget)
        } else {
            (name, next) = account.slots.isEmpty ? (.good, nil) : (.doubted, .nothing)
        }
    }

    /// Whether a request may be refused in this state.
    var explainsRefusal: Bool { name != .good && next != nil }

    var description: String { "\(name), next \(next.map { "\($0)" } ?? "unnamed")" }
}
