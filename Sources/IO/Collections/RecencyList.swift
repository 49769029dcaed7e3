/// Elements in the order of their last use, so that the one used longest ago can be forgotten. Each step takes constant
/// time.
public struct RecencyList<Element> {
    /// Where an element stands, from its insertion to its removal. It means nothing after that.
    public struct Position {
        fileprivate let index: Int
    }

    private struct Node {
        /// Nil in a free node.
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

    /// The one used longest ago.
    public var oldest: (position: Position, element: Element)? {
        guard last >= 0, let element = nodes[last].element else { return nil }
        return (Position(index: last), element)
    }

    /// All of them, in no order.
    public var elements: [Element] { nodes.compactMap(\.element) }

    /// Adds an element as the one used last.
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

    /// The element is used now.
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
