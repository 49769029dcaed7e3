/// Elements in the order of their last use, so that the least recently used one can be removed. Each step takes
/// constant time.
public struct RecencyList<Element> {
    /// The position of an element, valid from its insertion to its removal.
    public struct Position {
        fileprivate let index: Int
    }

    private struct Node {
        /// The element; nil in a free node.
        var element: Element?
        /// The neighbours' indices; -1 at either end.
        var newer = -1
        var older = -1
    }

    private var nodes: [Node] = []
    private var free: [Int] = []
    private var newest = -1
    private var last = -1

    public init() {}

    public var count: Int { nodes.count - free.count }

    public subscript(position: Position) -> Element? { nodes[position.index].element }

    /// The least recently used element.
    public var oldest: (position: Position, element: Element)? {
        guard last >= 0, let element = nodes[last].element else { return nil }
        return (Position(index: last), element)
    }

    /// All elements, in no particular order.
    public var elements: [Element] { nodes.compactMap(\.element) }

    /// Adds an element as the most recently used.
    public mutating func insert(_ element: Element) -> Position {
        let index: Int
        if let reused = free.popLast() {
            index = reused
        } else {
            index = nodes.count
            nodes.append(Node())
        }
        nodes[index].element = element
        link(index)
        return Position(index: index)
    }

    /// Marks the element as used now.
    public mutating func use(_ position: Position) {
        guard position.index != newest else { return }
        unlink(position.index)
        link(position.index)
    }

    public mutating func remove(_ position: Position) {
        guard nodes[position.index].element != nil else { return }
        unlink(position.index)
        nodes[position.index] = Node()
        free.append(position.index)
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
