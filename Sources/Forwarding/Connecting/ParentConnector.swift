import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// Makes connections to a parent, and through it.
public struct ParentConnector {
    /// A tunnel that a parent passes through to an origin.
    public struct Tunnel {
        /// To the parent: only what is sent from now on is for the origin.
        public let connection: OriginConnection
        /// Bytes that the origin sent at once; nil: none.
        public let early: ByteBuffer?
    }

    public let requester: Requester
    public let exchange: Exchange
    public let parent: Parent

    public init(requester: Requester, exchange: Exchange, parent: Parent) {
        self.requester = requester
        self.exchange = exchange
        self.parent = parent
    }

    /// - Throws: the refusal that the client is to be told, naming the parent. One that another way may avoid says so.
    public func connect(under terms: ConnectionTerms, resuming: Bool) async throws(Refusal) -> OriginConnection {
        do throws(Refusal) {
            let stream = try await requester.dialer(for: exchange.policy, in: exchange.record.trace)
                .connect(host: parent.origin.hostText, port: parent.origin.port)
            parent.figures.opened(stream.socket)
            stream.wakeup = requester.wakeup
            guard parent.origin.isSecure else {
                parent.worked()
                return OriginConnection(stream: stream, to: parent.origin, under: terms)
            }
            var handshake = OriginHandshake(
                requester: requester, policy: exchange.policy, client: requester.identity(in: exchange),
                origin: parent.origin, terms: terms)
            let identities = exchange.credentials.beginIdentities()
            handshake.identities = identities
            handshake.trace = exchange.record.trace
            let security = try await handshake.secure(stream, resuming: resuming)
            parent.worked()
            return OriginConnection(
                stream: stream, to: parent.origin, under: terms, parentSecurity: security,
                kind: identities.isApart(parent.origin) ? .forOneRequest : .ordinary)
        } catch {
            // It is there: another certificate may be shown to it, or none.
            if exchange.credentials.identities?.isToBeFollowed == true { throw error }
            var refusal = error.of(parent)
            // It had no time to fail.
            if requester.presence.isOver { throw refusal }
            switch error.error {
            // No other parent changes what the rules forbid, or this machine lacks.
            case .destinationIPProhibited, .connectionLimitReached, .proxyConfigurationError: break
            // A PAC file that was written for clients may name this proxy, and behind it where to go without.
            case .proxyLoopDetected: refusal.mayGoAnotherWay = true
            default:
                requester.upstreams.failed(parent, because: error.sentence)
                refusal.mayGoAnotherWay = true
            }
            throw refusal
        }
    }
}
