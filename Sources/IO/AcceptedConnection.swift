import Glibc

/// A connection as a listener's system call gave it.
public struct AcceptedConnection: Sendable {
    /// Whoever takes the connection over closes it.
    public let descriptor: Int32
    public let peer: SocketAddress

    /// For one that nobody takes over.
    public func close() { Glibc.close(descriptor) }
}
