import Synchronization

/// A value that one task awaits, and that another delivers.
public final class Promise<Value: Sendable>: Sendable {
    private enum State {
        /// The value is neither awaited nor delivered.
        case idle
        case awaited(CheckedContinuation<Value?, Never>)
        /// The value was delivered and not taken yet. Nil: the wait ended.
        case kept(Value?)
        case taken
    }

    private let state = Mutex(State.idle)

    public init() {}

    /// The value; nil if `expire` or cancellation ended the wait. Await it once. There is no time limit: a timer of the
    /// caller calls `expire`.
    public func value() async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Value?? in
                    switch state {
                    case .idle:
                        state = .awaited(continuation)
                        return .none
                    case .kept(let value):
                        state = .taken
                        return .some(value)
                    case .awaited, .taken: return .some(nil)
                    }
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            expire()
        }
    }

    /// Ends the wait, from any thread; no effect if the value is there.
    public func expire() { _ = keep(nil) }

    /// Delivers the value.
    ///
    /// - Returns: whether the value was still wanted.
    @discardableResult
    public func keep(_ value: Value?) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value?, Never>?) in
            switch state {
            case .idle:
                state = .kept(value)
                return (true, nil)
            case .awaited(let continuation):
                state = .taken
                return (true, continuation)
            case .kept, .taken: return (false, nil)
            }
        }
        continuation?.resume(returning: value)
        return isFirst
    }

    /// Whether the value was delivered, or the wait ended.
    public var isOver: Bool {
        state.withLock { state in
            switch state {
            case .idle, .awaited: false
            case .kept, .taken: true
            }
        }
    }
}
