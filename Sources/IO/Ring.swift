/// A queue in a ring of slots. It lets go of what was taken at once, grows as it must, and gives its memory back when it
/// is empty again.
struct Ring<Element> {
    private var slots: [Element?] = Array(repeating: nil, count: Self.usual)
    private var head = 0
    private(set) var count = 0

    /// Slots that are kept while nothing is in them.
    private static var usual: Int { 256 }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        if count == 0, slots.count > Self.usual { self = Ring() }
        return element
    }

    private mutating func grow() {
        var larger: [Element?] = Array(repeating: nil, count: slots.count * 2)
        for offset in 0..<count { larger[offset] = slots[(head + offset) & (slots.count - 1)].take() }
        slots = larger
        head = 0
    }
}
