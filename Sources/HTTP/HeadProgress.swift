/// What a head parser says of the bytes it has been shown.
public enum HeadProgress: Equatable, Sendable {
    /// The head is not whole; show it the same bytes again with more behind them.
    case needsMore
    /// The head is the first `length` bytes; what follows is the body's.
    case complete(length: Int)
}
