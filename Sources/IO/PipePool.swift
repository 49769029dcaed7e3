/// The empty pipes of one loop. Each costs two descriptors, so few are kept.
public final class PipePool {
    private var free: [Pipe] = []
    private static let kept = 16

    /// Nil when the system gives no pipe, or its descriptors are wanted for connections: the caller copies through memory
    /// instead.
    public func take() -> Pipe? {
        free.popLast() ?? (try? Pipe())
    }

    /// Gives a pipe back. One that still holds bytes is let go: they belong to nobody else.
    public func give(_ pipe: Pipe) {
        if pipe.held == 0, free.count < Self.kept { free.append(pipe) }
    }
}
