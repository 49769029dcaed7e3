/// A hashed timer wheel: 512 slots of 50 ms, each an intrusive list. Filing, unlinking and re-arming are O(1).
struct TimerWheel: ~Copyable {
    /// Milliseconds per slot: the resolution of every deadline.
    static let tick: UInt64 = 50
    private static let slots = 512

    private let heads: UnsafeMutablePointer<Unmanaged<Timed>?>
    private var current: UInt64
    private var count = 0

    init(now: UInt64) {
        heads = .allocate(capacity: Self.slots)
        heads.initialize(repeating: nil, count: Self.slots)
        current = now / Self.tick
    }

    deinit { heads.deallocate() }

    private func slot(of tick: UInt64) -> Int { Int(truncatingIfNeeded: tick % UInt64(Self.slots)) }

    /// Puts the entry into the slot of its deadline, or one turn ahead when the deadline is further than a turn.
    mutating func file(_ entry: Timed) {
        remove(entry)
        let wanted = (entry.deadline &+ Self.tick - 1) / Self.tick
        let tick = min(max(wanted, current + 1), current + UInt64(Self.slots - 1))
        let place = slot(of: tick)
        let head = heads[place]?.takeUnretainedValue()
        entry.filedTick = tick
        entry.earlier = nil
        entry.later = head
        head?.earlier = entry
        heads[place] = Unmanaged.passUnretained(entry)
        count += 1
    }

    mutating func remove(_ entry: Timed) {
        guard entry.filedTick != 0 else { return }
        if let earlier = entry.earlier {
            earlier.later = entry.later
        } else {
            heads[slot(of: entry.filedTick)] = entry.later.map(Unmanaged.passUnretained)
        }
        entry.later?.earlier = entry.earlier
        entry.earlier = nil
        entry.later = nil
        entry.filedTick = 0
        count -= 1
    }

    /// Milliseconds until the next slot that holds anything, or nil when the wheel is empty.
    func timeToNextSlot(now: UInt64) -> Int? {
        guard count > 0 else { return nil }
        var tick = current + 1
        while tick < current + UInt64(Self.slots), heads[slot(of: tick)] == nil { tick += 1 }
        let due = tick * Self.tick
        return due > now ? Int(due - now) : 0
    }

    /// Takes the next entry whose deadline has passed, re-filing those met on the way whose deadline has moved.
    mutating func nextExpired(now: UInt64) -> Timed? {
        let target = now / Self.tick
        // After a long sleep one turn visits every slot.
        if target > current + UInt64(Self.slots) { current = target - UInt64(Self.slots) }
        while current < target || heads[slot(of: current)] != nil {
            while let entry = heads[slot(of: current)]?.takeUnretainedValue() {
                remove(entry)
                if entry.deadline == 0 { continue }
                if entry.deadline <= now {
                    entry.deadline = 0
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
