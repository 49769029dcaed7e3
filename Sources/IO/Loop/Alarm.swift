import Bytes
import Synchronization

/// A deadline without a channel: for the next attempt of a race, or the time-outs of a resolver.
public final class Alarm: Timed {
    private let ring: () -> Void
    /// Whether the alarm has rung since it was last set.
    public private(set) var hasRung = false

    public init(on loop: EventLoop, ring: @escaping () -> Void) {
        self.ring = ring
        super.init(on: loop)
    }

    /// Sets the alarm to that time from now, in place of an earlier one.
    public func set(after time: Milliseconds) {
        hasRung = false
        setDeadline(after: time)
    }

    public func cancel() { loop.wheel.remove(self) }

    override func expire() {
        hasRung = true
        ring()
    }
}

/// A value that one task waits for, until a time limit or its cancellation.
public final class Expectation<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let state = Mutex(State.open)

    public init() {}

    /// Delivers the value. Only the first call counts; nil ends the wait.
    public func fulfil(_ value: Value?) {
        let continuation: CheckedContinuation<Value?, Never>? = state.withLock { state in
            switch state {
            case .over: return nil
            case .open:
                state = .over(value)
                return nil
            case .awaited(let continuation):
                state = .over(value)
                return continuation
            }
        }
        continuation?.resume(returning: value)
    }

    public var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

    /// The value. Await it once, on a loop.
    ///
    /// - Parameter limit: nil: no limit.
    /// - Returns: nil if the time has passed, or if the task was cancelled.
    public func value(within limit: Milliseconds?) async -> Value? {
        let alarm = EventLoop.current.map { Alarm(on: $0) { self.fulfil(nil) } }
        if let limit { alarm?.set(after: limit) }
        defer { alarm?.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: Value?? = state.withLock { state in
                    if case .over(let value) = state { return value }
                    state = .awaited(continuation)
                    return .none
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            fulfil(nil)
        }
    }
}
