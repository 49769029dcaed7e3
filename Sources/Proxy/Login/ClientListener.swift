import Bytes
import IO
import Rules
import Telemetry

/// A place where clients connect, and what is known of them there.
public final class ClientListener: Sendable {
    public enum Place: Sendable, CustomStringConvertible {
        /// Port 0 lets the system choose.
        case network(SocketAddress)
        /// - Parameter group: the number of the group of the socket's file; nil for the process's own.
        case local(LocalPath, mode: UInt32, group: UInt32?)

        public var description: String {
            switch self {
            case .network(let address): "\(address)"
            case .local(let path, _, _): "unix:\(path)"
            }
        }
    }

    /// The protocols that clients may speak beside HTTP/1.1.
    public struct Protocols: OptionSet, Sendable {
        public let rawValue: UInt8
        public static let socks = Protocols(rawValue: 1)
        /// HTTP/2 without TLS.
        public static let http2 = Protocols(rawValue: 2)

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Creates the set that the rule file says.
        public init(_ listener: Configuration.Listener) {
            self = []
            if listener.speaksSOCKS { insert(.socks) }
            if listener.speaksHTTP2 { insert(.http2) }
        }
    }

    public let place: Place
    /// The identity for TLS; nil if clients connect in clear.
    public let identity: ListenerIdentity?
    /// The user that each client is; nil if clients say who they are.
    let user: String?
    let protocols: Protocols
    /// The load balancers that connect for their clients, and say by the PROXY protocol which; empty: clients connect
    /// themselves.
    let balancers: [AddressPrefix]
    /// Whether a firewall redirects clients here, which know of no proxy.
    let isTransparent: Bool

    /// Whether it is a socket in the file system.
    public var isLocal: Bool { if case .local = place { true } else { false } }

    public init(
        _ place: Place, identity: ListenerIdentity? = nil, user: String? = nil, protocols: Protocols = [],
        balancers: [AddressPrefix] = [], isTransparent: Bool = false
    ) {
        self.place = place
        self.identity = identity
        self.user = user
        self.protocols = protocols
        self.balancers = balancers
        self.isTransparent = isTransparent
    }

    /// The party at the other end of a client's connection, as the system knows it.
    struct Peer {
        /// The address; nil at a unix socket.
        let address: IPAddress?
        /// The user id of the client's process; nil for clients that come over the network.
        let uid: UInt32?

        init(_ peer: AcceptedConnection.Peer) {
            switch peer {
            case .network(let peer): (address, uid) = (peer.address.unmapped, nil)
            case .local(let peer): (address, uid) = (nil, peer.user)
            }
        }

        init(address: IPAddress) { (self.address, uid) = (address, nil) }

        /// Sets the client in the record.
        @inline(__always)
        func note(in record: ExchangeRecord) {
            if let address { record.setClient(address) } else { record.setLocalClient(uid: uid ?? .max) }
        }
    }
}
