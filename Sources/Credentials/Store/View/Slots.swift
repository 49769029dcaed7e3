/// Elements that keep their number as long as they are there; the number of one that is gone is given again.
struct Slots<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var free: [UInt32] = []

    var indices: Range<Int> { elements.indices }

    /// Nil where there is none.
    subscript(slot: Int) -> Element? {
        get { elements.indices.contains(slot) ? elements[slot] : nil }
        _modify {
            precondition(elements.indices.contains(slot), "a slot that was never given")
            yield &elements[slot]
        }
    }

    mutating func add(_ element: Element) -> Int {
        if let slot = free.popLast() {
            elements[Int(slot)] = element
            return Int(slot)
        }
        elements.append(element)
        return elements.count - 1
    }

    mutating func remove(_ slot: Int) {
        guard elements[slot] != nil else { return }
        elements[slot] = nil
        free.append(UInt32(clamping: slot))
    }
}
