/// Values by key, in the order of their last use, so that the least recently used one can be removed. Each step takes
/// constant time.
public struct RecencyMap<Key: Hashable, Value> {
    private var list = RecencyList<(key: Key, value: Value)>()
    private var positions: [Key: RecencyList<(key: Key, value: Value)>.Position] = [:]

    public init() {}

    public var count: Int { positions.count }

    /// The least recently used entry.
    public var oldest: (key: Key, value: Value)? { list.oldest?.element }

    public func contains(_ key: Key) -> Bool { positions[key] != nil }

    /// All values, in no particular order.
    public var values: [Value] { positions.values.compactMap { list[$0]?.value } }

    /// The value, which is marked as used now.
    public mutating func use(_ key: Key) -> Value? {
        guard let position = positions[key] else { return nil }
        list.use(position)
        return list[position]?.value
    }

    /// Sets the value, as the most recently used.
    public mutating func put(_ value: Value, for key: Key) {
        if let known = positions[key] { list.remove(known) }
        positions[key] = list.insert((key, value))
    }

    public mutating func remove(_ key: Key) {
        if let position = positions.removeValue(forKey: key) { list.remove(position) }
    }

    /// Removes the least recently used entries until fewer than `limit` are left.
    public mutating func makeRoom(below limit: Int) {
        while count >= max(1, limit), let oldest { remove(oldest.key) }
    }
}
