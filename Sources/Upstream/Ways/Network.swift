import DNS
import IO
import Transport

/// The way to other hosts: the addresses of their names, and connections to those addresses. Belongs to a loop.
public protocol Network: AnyObject {
    /// The addresses of a host name that are known without a query, as `Resolver`; nil: one is needed.
    func knownAddresses(of name: String) throws(ResolutionError) -> Resolution?

    /// The addresses of a host name, as `Resolver`.
    /// - Parameter name: lower case, without a trailing dot; or an address in text form.
    func addresses(of name: String) async throws(ResolutionError) -> Resolution

    /// Connects to one of a name's addresses, as `Connector`.
    /// - Parameters:
    ///   - limit: milliseconds.
    ///   - isPermitted: asked of every address; no other is dialled.
    func connect(
        to resolution: Resolution, port: UInt16, within limit: Int, waking wakeup: Wakeup,
        where isPermitted: (SocketAddress) -> Bool
    ) async throws(IOError) -> ByteStream

    /// A socket on its way to that address, as `Socket.connecting`.
    func begin(to address: SocketAddress) throws(IOError) -> Socket
}

/// The network that this machine is on.
public final class SystemNetwork: Network {
    private let loop: EventLoop
    private let resolver: Resolver

    public init(_ resolver: Resolver, on loop: EventLoop) {
        self.resolver = resolver
        self.loop = loop
    }

    public func knownAddresses(of name: String) throws(ResolutionError) -> Resolution? { try resolver.known(name) }

    public func addresses(of name: String) async throws(ResolutionError) -> Resolution {
        try await resolver.resolve(name)
    }

    public func connect(
        to resolution: Resolution, port: UInt16, within limit: Int, waking wakeup: Wakeup,
        where isPermitted: (SocketAddress) -> Bool
    ) async throws(IOError) -> ByteStream {
        try await Connector.connect(
            to: resolution, port: port, within: limit, on: loop, wakeup: wakeup, where: isPermitted)
    }

    public func begin(to address: SocketAddress) throws(IOError) -> Socket {
        try Socket.connecting(to: address, on: loop)
    }
}
