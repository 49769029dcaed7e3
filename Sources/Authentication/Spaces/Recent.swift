/// The values that were put last, as many as there is room for.
struct Recent<Key: Hashable & Sendable, Value> {
    private var values: [Key: Value] = [:]
    /// Oldest first; some may be gone.
    private var order: [Key] = []

    subscript(key: Key) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    mutating func put(_ value: Value, for key: Key, capacity: Int) {
        if values.updateValue(value, forKey: key) != nil { return }
        order.append(key)
        guard order.count > capacity else { return }
        // Half at once, so that a full table costs no more than one that fills.
        let gone = order.prefix((capacity + 1) / 2)
        for key in gone { values[key] = nil }
        order.removeFirst(gone.count)
    }
}
