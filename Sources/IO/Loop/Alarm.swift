import Synchronization

/// A deadline on its own, for what is not a channel: the next attempt of a race, the time-outs of a resolver.
public final class Alarm: Timed {
    private let ring: () -> Void
    /// Whether the alarm rang since it was last set.
    public private(set) var hasRung = false

    public init(on loop: EventLoop, ring: @escaping () -> Void) {
        self.ring = ring
        super.init(on: loop)
    }

    /// Rings `milliseconds` from now, forgetting an earlier setting.
    public func set(after milliseconds: Int) {
        hasRung = false
        setDeadline(after: milliseconds)
    }

    public func cancel() { loop.wheel.remove(self) }

    override func expire() {
        hasRung = true
        ring()
    }
}

/// Something that one task waits for, and not for ever: neither longer than it wants to, nor when it was cancelled.
public final class Expectation<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let state = Mutex(State.open)

    public init() {}

    /// The first word is the last; nil: nobody is to wait any longer.
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

    /// To be awaited once, on a loop.
    ///
    /// - Parameter limit: milliseconds; nil: as long as it takes.
    /// - Returns: nil when that has passed, or the task was cancelled.
    public func value(within limit: Int?) async -> Value? {
        let alarm = EventLoop.current.map { Alarm(on: $0) { self.fulfil(nil) } }
        if let limit { alarm?.set(after: max(0, limit)) }
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
