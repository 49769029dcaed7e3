import Bytes
import DNS
import IO
import Transport

/// The access to other hosts: the addresses of their names, and connections to those addresses. Belongs to a loop.
public protocol Network: AnyObject {
    /// The known addresses of a host name, as in `Resolver`; nil: a query is needed.
    func knownAddresses(of name: String) throws(Resolution.Failure) -> Resolution?

    /// The addresses of a host name, as in `Resolver`.
    /// - Parameter name: lower case, without a trailing dot; or an address in text form.
    func addresses(of name: String) async throws(Resolution.Failure) -> Resolution

    /// Connects to one of a name's addresses, as `Connector` does.
    /// - Parameters:
    ///   - isPermitted: asked for every address; only permitted ones are dialled.
    func connect(
        to resolution: Resolution, port: UInt16, within limit: Milliseconds, waking wakeup: Wakeup,
        where isPermitted: (SocketAddress) -> Bool
    ) async throws(IOError) -> ByteStream

    /// Begins a connection to that address, as `Socket.connecting` does.
    func begin(to address: SocketAddress) throws(IOError) -> Socket
}

/// The network of this machine.
public final class SystemNetwork: Network {
    private let loop: EventLoop
    private let resolver: Resolver

    public init(_ resolver: Resolver, on loop: EventLoop) {
        self.resolver = resolver
        self.loop = loop
    }

    public func knownAddresses(of name: String) throws(Resolution.Failure) -> Resolution? { try resolver.known(name) }

    public func addresses(of name: String) async throws(Resolution.Failure) -> Resolution {
        try await resolver.resolve(name)
    }

    public func connect(
        to resolution: Resolution, port: UInt16, within limit: Milliseconds, waking wakeup: Wakeup,
        where isPermitted: (SocketAddress) -> Bool
    ) async throws(IOError) -> ByteStream {
        try await Connector.connect(
            to: resolution, port: port, within: limit, on: loop, wakeup: wakeup, where: isPermitted)
    }

    public func begin(to address: SocketAddress) throws(IOError) -> Socket {
        try Socket.connecting(to: address, on: loop)
    }
}
