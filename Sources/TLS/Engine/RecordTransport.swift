/// The ordered bytes under a TLS connection: a socket, or another TLS connection. Belongs to one loop.
public protocol RecordTransport: AnyObject {
    /// False when a read would say `wouldBlock`: then it need not be tried.
    var isReadable: Bool { get }

    /// Fills the front of `room`, which is not empty, with what has come.
    func read(into room: inout MutableRawSpan) -> RecordTransfer

    /// Takes bytes from the front of `bytes`. What is refused is offered again, before anything else.
    func write(_ bytes: RawSpan) -> RecordTransfer
}
