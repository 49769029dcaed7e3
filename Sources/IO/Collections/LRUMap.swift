/// Values by key, in the order of their last use, so that the least recently used one can be removed. Each step takes
/// constant time.
///
/// There are two such orders. An idle connection changes its place with each request, so `IntrusiveLRU` links the objects
/// themselves and hashes nothing. This map is for all other entries.
public struct LRUMap<Key: Hashable, Value> {
    private struct Node {
        /// Nil in a free node.
        var entry: (key: Key, value: Value)?
        /// The neighbours' indices; -1 at either end.
        var newer = -1
        var older = -1
    }

    private var nodes: [Node] = []
    private var free: [Int] = []
    private var indices: [Key: Int] = [:]
    private var newest = -1
    private var last = -1

    public init() {}

    public var count: Int { indices.count }

    /// The least recently used entry.
    public var oldest: (key: Key, value: Value)? { last < 0 ? nil : nodes[last].entry }

    public func contains(_ key: Key) -> Bool { indices[key] != nil }

    /// All values, in no particular order.
    public var values: [Value] { nodes.compactMap { $0.entry?.value } }

    /// The value, which is marked as used now.
    public mutating func use(_ key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        if index != newest {
            unlink(index)
            link(index)
        }
        return nodes[index].entry?.value
    }

    /// Sets the value, as the most recently used.
    public mutating func put(_ value: Value, for key: Key) {
        remove(key)
        let index = free.popLast() ?? nodes.count
        if index == nodes.count { nodes.append(Node()) }
        nodes[index].entry = (key, value)
        indices[key] = index
        link(index)
    }

    public mutating func remove(_ key: Key) {
        guard let index = indices.removeValue(forKey: key) else { return }
        unlink(index)
        nodes[index].entry = nil
        free.append(index)
    }

    /// Removes the least recently used entries until fewer than `limit` are left.
    public mutating func makeRoom(below limit: Int) {
        while count >= max(1, limit), let oldest { remove(oldest.key) }
    }

    private mutating func link(_ index: Int) {
        nodes[index].newer = -1
        nodes[index].older = newest
        if newest >= 0 { nodes[newest].newer = index } else { last = index }
        newest = index
    }

    private mutating func unlink(_ index: Int) {
        let (newer, older) = (nodes[index].newer, nodes[index].older)
        if newer >= 0 { nodes[newer].older = older } else { newest = older }
        if older >= 0 { nodes[older].newer = newer } else { last = newer }
    }
}
