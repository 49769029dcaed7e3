/// The nonces that were used, each with its window of counts; no more than there is room for. Without I/O and clock.
///
/// What has to go to make room would be new again if it came back. So everything of its age and older that is not in
/// the table is refused from then on: a client gets a new nonce then, and nothing is ever taken twice.
struct NonceTable: Sendable {
    private var windows: [DigestNonce: NonceWindow] = [:]
    /// In the order in which they were first used: a ring, whose oldest stands at `oldest` when it is full.
    private var order: [DigestNonce] = []
    private var oldest = 0
    /// What is not in the table and was made then or earlier is refused.
    private var floor: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { windows.count }

    /// Whether this count of the nonce is used for the first time. The nonce is ours, and lives.
    mutating func use(_ nonce: DigestNonce, count: UInt32) -> Bool {
        if let index = windows.index(forKey: nonce) { return windows.values[index].use(count) }
        guard nonce.time > floor else { return false }
        if order.count < capacity {
            order.append(nonce)
        } else {
            let former = order[oldest]
            windows[former] = nil
            floor = max(floor, former.time)
            order[oldest] = nonce
            oldest = (oldest + 1) % capacity
            // The nonce itself may be of the age that has just gone; it is here now, and is remembered.
        }
        windows[nonce] = NonceWindow(count)
        return true
    }
}
