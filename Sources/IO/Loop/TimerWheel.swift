import Bytes

/// A hashed timer wheel: 512 slots of 50 ms, each an intrusive list. Adding, removing and re-arming take constant time.
struct TimerWheel: ~Copyable {
    /// Nanoseconds per slot: the resolution of every deadline.
    private static let tick = 50 * LoopInstant.nanosecondsPerMillisecond
    private static let slots = 512

    private let heads: UnsafeMutablePointer<Unmanaged<Timed>?>
    /// A bit for each slot that is not empty.
    private let occupied: UnsafeMutablePointer<UInt64>
    /// A bit for each of these words that is not zero, stored twice, so that one shift gives the words after a given
    /// one.
    private var words: UInt32 = 0
    private var current: UInt64

    init(now: LoopInstant) {
        heads = .allocate(capacity: Self.slots)
        heads.initialize(repeating: nil, count: Self.slots)
        occupied = .allocate(capacity: Self.slots / 64)
        occupied.initialize(repeating: 0, count: Self.slots / 64)
        current = now.nanoseconds / Self.tick
    }

    deinit {
        heads.deallocate()
        occupied.deallocate()
    }

    private func slot(of tick: UInt64) -> Int { Int(truncatingIfNeeded: tick % UInt64(Self.slots)) }

    /// Puts the entry into the slot of its deadline, or one turn ahead if the deadline is further away.
    mutating func file(_ entry: Timed) {
        remove(entry)
        let wanted = (entry.deadline.nanoseconds &+ Self.tick - 1) / Self.tick
        let tick = min(max(wanted, current + 1), current + UInt64(Self.slots - 1))
        let slot = slot(of: tick)
        let head = heads[slot]?.takeUnretainedValue()
        entry.filedTick = tick
        entry.earlier = nil
        entry.later = head
        head?.earlier = entry
        heads[slot] = Unmanaged.passUnretained(entry)
        occupied[slot >> 6] |= 1 << UInt64(slot & 63)
        words |= 0x101 << UInt32(slot >> 6)
    }

    mutating func remove(_ entry: Timed) {
        guard entry.filedTick != 0 else { return }
        if let earlier = entry.earlier {
            earlier.later = entry.later
        } else {
            let slot = slot(of: entry.filedTick)
            heads[slot] = entry.later.map(Unmanaged.passUnretained)
            if entry.later == nil { empty(slot) }
        }
        entry.later?.earlier = entry.earlier
        entry.earlier = nil
        entry.later = nil
        entry.filedTick = 0
    }

    private mutating func empty(_ slot: Int) {
        occupied[slot >> 6] &= ~(1 << UInt64(slot & 63))
        if occupied[slot >> 6] == 0 { words &= ~(0x101 << UInt32(slot >> 6)) }
    }

    /// The time until the next slot that is not empty; nil if the wheel is empty.
    func timeToNextSlot(now: LoopInstant) -> Milliseconds? {
        distanceToNextSlot().map { now.time(until: Self.begin(of: current + UInt64($0))) }
    }

    /// The beginning of a slot's time.
    static func begin(of tick: UInt64) -> LoopInstant { LoopInstant(nanoseconds: tick &* Self.tick) }

    /// The number of ticks from the current slot to the next one that is not empty.
    private func distanceToNextSlot() -> Int? {
        guard words != 0 else { return nil }
        let start = slot(of: current + 1)
        let rest = occupied[start >> 6] >> UInt64(start & 63)
        if rest != 0 { return 1 + rest.trailingZeroBitCount }
        // The rest of the word in which the turn began precedes the start, and so comes last.
        let index = (start >> 6 + 1 + (words >> UInt32(start >> 6 + 1)).trailingZeroBitCount) & 7
        return 1 + ((index << 6 + occupied[index].trailingZeroBitCount - start) & (Self.slots - 1))
    }

    /// Takes the next entry whose deadline has passed. Entries with a later deadline are filed again on the way.
    @inline(__always)
    mutating func nextExpired(now: LoopInstant) -> Timed? {
        let target = now.nanoseconds / Self.tick
        return target == current && heads[slot(of: current)] == nil ? nil : turn(to: target, now: now)
    }

    private mutating func turn(to target: UInt64, now: LoopInstant) -> Timed? {
        // After a long sleep, one turn visits every slot.
        if target > current + UInt64(Self.slots) { current = target - UInt64(Self.slots) }
        while current < target || heads[slot(of: current)] != nil {
            while let entry = heads[slot(of: current)]?.takeUnretainedValue() {
                remove(entry)
                if entry.deadline == .zero { continue }
                if entry.deadline <= now {
                    entry.deadline = .zero
                    return entry
                }
                file(entry)
            }
            if current >= target { break }
            current += 1
        }
        return nil
    }
}

/// An object with a deadline on a loop's timer wheel.
///
/// Activity only stores a new deadline. The wheel checks the entry when its slot is due, and files it again if the
/// deadline has changed. Only a deadline that becomes *earlier* costs a relink.
open class Timed {
    public internal(set) unowned(unsafe) final var loop: EventLoop
    /// The deadline; zero means none.
    final var deadline = LoopInstant.zero
    /// The tick whose slot contains this entry; 0 if none.
    final var filedTick: UInt64 = 0
    unowned(unsafe) final var earlier: Timed?
    unowned(unsafe) final var later: Timed?

    init(on loop: EventLoop) { self.loop = loop }

    /// The wheel does not retain its entries. The last reference is dropped on the loop's thread, like all other access
    /// to them.
    deinit { loop.wheel.remove(self) }

    /// Called on the loop once the deadline has passed; the entry is in no slot at that time.
    func expire() {}

    /// Sets the deadline to that time from now; nil removes it.
    public final func setDeadline(after time: Milliseconds?) {
        guard let time else {
            deadline = .zero
            return
        }
        deadline = loop.now + time
        if filedTick == 0 || deadline < TimerWheel.begin(of: filedTick) { loop.wheel.file(self) }
    }
}
