import Bytes
import IO
import Synchronization
import TLS
import Transport

/// A connection to an origin, with everything that decides whom it may serve. While idle it is listed in its loop's
/// `IdlePool`.
public final class OriginConnection: IntrusiveLRU.Entry {
    public let stream: ByteStream
    /// The server at the other end: an origin, or a parent that gets requests itself.
    public let peer: UpstreamServer
    public let terms: ConnectionTerms
    /// The origin's TLS; nil without TLS.
    public let security: ConnectionSecurity?
    /// The TLS of the parent that the connection passes; nil without TLS.
    public let parentSecurity: ConnectionSecurity?
    /// The kind of connection, apart from its server.
    public enum Kind {
        case ordinary
        /// A gateway of this process answers in place of the server.
        case gateway(OriginConnection.GatewayOutcome)
        /// The connection may serve no other request.
        case forOneRequest
        /// The client knows that the server speaks HTTP/2 without TLS.
        /// - Parameter early: the bytes that the server has sent at once; nil if none.
        case http2(early: ByteBuffer?)
    }

    private let kind: Kind
    /// The stream of an HTTP/2 connection that others share, which serves one request at a time, and never a login; nil for
    /// a connection of its own.
    let sharedStream: OriginStream?
    /// Whether more is to be noted of a response than of one that came by HTTP/1.1 from an origin or in clear.
    let isNotable: Bool
    /// The login at the origin, complete or in progress; nil: the connection may serve any client.
    public private(set) var login: ConnectionLogin?
    /// The login at the parent. Without a login at the origin, requests for any origin may use the connection to the
    /// parent.
    public private(set) var parentLogin: ConnectionLogin?

    public init(
        stream: ByteStream, to peer: UpstreamServer, under terms: ConnectionTerms, security: ConnectionSecurity? = nil,
        parentSecurity: ConnectionSecurity? = nil, kind: Kind = .ordinary
    ) {
        self.kind = kind
        sharedStream = nil
        isNotable = parentSecurity != nil
        self.stream = stream
        self.peer = peer
        self.terms = terms
        self.security = security
        self.parentSecurity = parentSecurity
    }

    /// Creates the connection of one request at a time: a stream of a shared one.
    init(_ stream: OriginStream) {
        let carrier = stream.shared.carrier
        kind = .ordinary
        sharedStream = stream
        isNotable = true
        self.stream = ByteStream(stream)
        peer = carrier.peer
        terms = carrier.terms
        security = carrier.security
        parentSecurity = carrier.parentSecurity
    }

    /// Whether it is a stream of an HTTP/2 connection.
    var isStream: Bool { sharedStream != nil }

    /// The TLS of the server that gets the requests, an origin or a parent; nil without TLS.
    var peerSecurity: ConnectionSecurity? { peer.isProxy ? parentSecurity : security }

    /// The bytes of HTTP/2 that the server has sent before it was asked; nil if none.
    var early: ByteBuffer? {
        if case .http2(let early) = kind { early } else { nil }
    }

    /// The TLS with the server, also of a stream; nil without TLS.
    var tls: TLSConnection? { sharedStream?.tls ?? stream.tls }

    /// Whether the connection itself speaks HTTP/2: both sides have agreed on it, or the client knew.
    public var speaksHTTP2: Bool {
        if case .http2 = kind { return true }
        return peer.isSecure && stream.tls?.speaksHTTP2 == true
    }

    /// The address of the server, or of the parent on the way to it.
    public var peerAddress: IPAddress? {
        (sharedStream?.shared.carrier.stream ?? stream).peerAddress?.address
    }

    /// Keeps the connection idle at its server, for any client, until another request takes it. A stream ends.
    /// - Parameter limit: the time until an unused connection is closed.
    public func rest(for limit: Milliseconds) {
        if let sharedStream { sharedStream.shared.keep(self) } else { peer.keep(self, for: limit) }
    }

    /// The outcome of the gateway that answers; nil for an ordinary connection.
    public var gateway: OriginConnection.GatewayOutcome? {
        if case .gateway(let outcome) = kind { outcome } else { nil }
    }

    /// Marks the connection as that login's until it closes.
    func claim(for login: ConnectionLogin) {
        if login.origin.isProxy { parentLogin = login } else { self.login = login }
    }

    /// Whether a user is logged in on the connection.
    public var isLoggedIn: Bool { login != nil || parentLogin != nil }

    /// Whether the connection may serve another request.
    var mayBeKept: Bool {
        if case .forOneRequest = kind { return false }
        return !isStream && (login?.mayFollow ?? true) && (parentLogin?.mayFollow ?? true)
    }

    /// Whether the rules by which it was trusted still apply.
    public var isStillTrusted: Bool {
        (security?.grant.holds(on: .today) ?? true) && (parentSecurity?.grant.holds(on: .today) ?? true)
    }

    /// The reason why a gateway thread gave no response.
    public final class GatewayOutcome: Sendable {
        private let stored = Mutex<Refusal?>(nil)

        public init() {}

        /// Nil if the server, and not the proxy, refused.
        public var refusal: Refusal? {
            get { stored.withLock { $0 } }
            set { stored.withLock { $0 = newValue } }
        }
    }
}
