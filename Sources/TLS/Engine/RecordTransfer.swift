/// What one attempt to move bytes came to.
public enum RecordTransfer: Equatable, Sendable {
    case moved(Int)
    /// The peer has ended its side.
    case endOfStream
    /// Nothing moves until an event on the transport.
    case wouldBlock
    case failed(errno: Int32)
}
