import Bytes
import HTTP

/// A tunnel that is decrypted. Its server is the one that the client named at the start, for all requests in it.
public final class InterceptedTunnel {
    /// `https`, or `http` where the client speaks plain HTTP in its tunnel.
    public let scheme: Scheme
    /// The host in its canonical spelling (`HostSpelling`).
    public let host: [UInt8]
    public let port: UInt16
    /// The host as in a URL.
    public let bracketedHost: [UInt8]
    /// The reason why no request of this tunnel is served, if TLS asked for another server than CONNECT.
    public let misdirection: Refusal?
    /// The reason why the origin could not be reached when the tunnel was opened. The first request gets it, later ones
    /// try again.
    private var failure: Refusal?

    public init(scheme: Scheme, host: [UInt8], port: UInt16, misdirection: Refusal? = nil, failure: Refusal? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        bracketedHost = host.contains(.colon) ? Array("[".utf8) + host + Array("]".utf8) : host
        self.misdirection = misdirection
        self.failure = failure
    }

    /// The answer to the first request; nil for all others.
    public func takeFailure() -> Refusal? {
        defer { failure = nil }
        return failure
    }

    /// Whether the authority is the server of the tunnel, its host in any spelling.
    /// - Parameter usualPort: the port of an authority that writes none.
    public func leads(to authority: Authority, in bytes: Span<UInt8>, usualPort: UInt16?) -> Bool {
        guard authority.explicitPort ?? usualPort == port else { return false }
        let host = host
        return bytes.extracting(authority.host).isSpelling(of: host.span)
    }
}
