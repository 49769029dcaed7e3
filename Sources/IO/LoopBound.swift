/// A value that belongs to one loop, in a box that may travel.
///
/// `@unchecked Sendable`: every access checks that it happens on the loop's own thread.
public struct LoopBound<Value>: @unchecked Sendable {
    private let bound: Value
    public let loop: EventLoop

    public init(_ value: Value, to loop: EventLoop) {
        bound = value
        self.loop = loop
    }

    public var value: Value {
        precondition(loop.isCurrent, "a value bound to a loop was used on another thread")
        return bound
    }

    /// The value before the loop runs, while the thread that made both still owns them.
    public var unstarted: Value {
        precondition(!loop.hasStarted, "a value bound to a running loop was used on another thread")
        return bound
    }
}
