import Bytes
import HTTP

/// A tunnel that is decrypted. Its server is the one that the client named at the start, for all requests in it.
///
/// A client that knows only an address names its server inside of the tunnel. Such a name is a claim: anyone can write the
/// name of another server. It counts if it is proved for that address, by the server's certificate or by DNS, and the address
/// stays the one that is dialled.
public final class InterceptedTunnel {
    /// The relation of the host that requests write to the one of the tunnel.
    public enum Naming: Equatable {
        /// Requests write the host of the tunnel.
        case settled
        /// Requests write the host of the tunnel. The client has named the address, which is the one that is dialled.
        case proved(IPAddress)
        /// The tunnel was opened to an address, and its first request may name a server there.
        /// - Parameter passesUnproved: whether requests pass by the rules for the address if their name is not proved.
        case open(passesUnproved: Bool)
        /// Requests write this host, and nothing proves it: they are for the address, by the rules for the address.
        case unproved([UInt8])
    }

    /// `https`, or `http` where the client speaks plain HTTP in its tunnel.
    public let scheme: Scheme
    /// The host in its canonical spelling (`HostSpelling`).
    public private(set) var host: [UInt8]
    public let port: UInt16
    /// The host as in a URL.
    public private(set) var bracketedHost: [UInt8]
    public private(set) var naming: Naming
    /// Whether the client begins with HTTP/2 without TLS, since it knows that the server speaks it (RFC 9113 section 3.3).
    public var hasPriorKnowledge = false
    /// The destination of the requests in a tunnel with an address; nil before the first one.
    public var destination: Destination?
    /// The reason why no request of this tunnel is served, if TLS asked for another server than CONNECT.
    public let misdirection: Refusal?
    /// The reason why the origin could not be reached when the tunnel was opened. The first request gets it, later ones
    /// try again.
    private var failure: Refusal?

    public init(
        scheme: Scheme, host: [UInt8], port: UInt16, naming: Naming = .settled, misdirection: Refusal? = nil,
        failure: Refusal? = nil
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.naming = naming
        bracketedHost = Self.bracketed(host)
        self.misdirection = misdirection
        self.failure = failure
    }

    private static func bracketed(_ host: [UInt8]) -> [UInt8] {
        host.contains(.colon) ? Array("[".utf8) + host + Array("]".utf8) : host
    }

    /// The address that is dialled; nil: one that DNS gives for the host.
    public var address: IPAddress? { if case .proved(let address) = naming { address } else { nil } }

    /// Whether the first request may name the tunnel's server.
    public var awaitsName: Bool { if case .open = naming { true } else { false } }

    /// Makes a proved name the tunnel's host. Connections still go to `address`.
    public func settle(_ host: [UInt8], at address: IPAddress) {
        (self.host, naming) = (host, .proved(address))
        bracketedHost = Self.bracketed(host)
    }

    /// Ends the time in which the tunnel's server can be named.
    /// - Parameter host: the host that requests may write beside the tunnel's own; nil if none.
    public func settle(writing host: [UInt8]?) { naming = host.map { .unproved($0) } ?? .settled }

    /// The answer to the first request; nil for all others.
    public func takeFailure() -> Refusal? { failure.take() }

    /// Whether the authority is the server of the tunnel, its host in any spelling.
    /// - Parameter usualPort: the port of an authority that writes none.
    public func leads(to authority: Authority, in bytes: Span<UInt8>, usualPort: UInt16?) -> Bool {
        guard authority.explicitPort ?? usualPort == port else { return false }
        let (host, written) = (host, bytes.extracting(authority.host))
        if written.isSpelling(of: host.span) { return true }
        guard case .unproved(let name) = naming else { return false }
        return written.isSpelling(of: name.span)
    }
}
