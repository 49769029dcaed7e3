import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// Makes connections to a parent, and tunnels through it.
public struct ParentConnector {
    /// A tunnel through a parent to an origin.
    public struct Tunnel {
        /// The connection to the parent: bytes sent from now on reach the origin.
        public let connection: OriginConnection
        /// The bytes that the origin sent at once; nil if none.
        public let early: ByteBuffer?
    }

    public let downstream: Downstream
    public let exchange: Exchange
    public let parent: Parent

    public init(downstream: Downstream, exchange: Exchange, parent: Parent) {
        self.downstream = downstream
        self.exchange = exchange
        self.parent = parent
    }

    /// - Parameter offeringHTTP2: whether the parent may choose HTTP/2. The caller then shares the connection.
    /// - Throws: the refusal for the client; it names the parent, and says whether another path may help.
    public func connect(
        under terms: ConnectionTerms, resuming: Bool, offeringHTTP2: Bool = false
    ) async throws(Refusal) -> OriginConnection {
        do throws(Refusal) {
            let stream = try await downstream.dialer(for: exchange.policy, in: exchange.record.facts.trace)
                .connect(host: parent.origin.hostText, port: parent.origin.port)
            parent.figures.opened(stream.channel)
            stream.wakeup = downstream.wakeup
            guard parent.origin.isSecure else {
                parent.worked()
                return OriginConnection(stream: stream, to: parent.origin, under: terms)
            }
            var handshake = OriginHandshake(
                downstream: downstream, policy: exchange.policy, client: downstream.identity(in: exchange),
                origin: parent.origin, terms: terms)
            let identities = exchange.credentials.beginIdentities()
            handshake.identities = identities
            handshake.trace = exchange.record.facts.trace
            let isApart = identities.isApart(parent.origin)
            handshake.offersHTTP2 = offeringHTTP2 && !isApart
            let security = try await handshake.secure(stream, resuming: resuming)
            parent.worked()
            return OriginConnection(
                stream: stream, to: parent.origin, under: terms, parentSecurity: security,
                kind: isApart ? .forOneRequest : .ordinary)
        } catch {
            // The parent is there: it may be shown another certificate, or none.
            if exchange.credentials.identities?.isToBeFollowed == true { throw error }
            var refusal = error.of(parent)
            // The parent had no time to fail.
            if downstream.presence.isOver { throw refusal }
            switch error.error {
            // Another parent does not change what the rules forbid or what this machine lacks.
            case .destinationIPProhibited, .connectionLimitReached, .proxyConfigurationError: break
            // A PAC file that was written for clients may name this proxy, and behind it a path without it.
            case .proxyLoopDetected: refusal.mayGoAnotherWay = true
            default:
                downstream.upstreams.failed(parent, because: error.sentence)
                refusal.mayGoAnotherWay = true
            }
            throw refusal
        }
    }
}
