/// What one system call that moves bytes came to.
public enum Transfer: Equatable, Sendable {
    case moved(Int)
    case endOfStream
    case wouldBlock
    case failed(errno: Int32)
}
