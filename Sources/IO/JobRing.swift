/// The loop's own queue of ready jobs: a ring that grows and never shrinks.
struct JobRing {
    private var slots: [UnownedJob?] = Array(repeating: nil, count: 256)
    private var head = 0
    private var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ job: UnownedJob) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = job
        count += 1
    }

    mutating func popFirst() -> UnownedJob? {
        guard count > 0 else { return nil }
        let job = slots[head]
        head = (head + 1) & (slots.count - 1)
        count -= 1
        return job
    }

    private mutating func grow() {
        var larger: [UnownedJob?] = Array(repeating: nil, count: slots.count * 2)
        for offset in 0..<count { larger[offset] = slots[(head + offset) & (slots.count - 1)] }
        slots = larger
        head = 0
    }
}
