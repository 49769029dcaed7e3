import Bytes
import HTTP
import IO
import Telemetry
import Transport

/// Looks into a tunnel: what is HTTP in it, by TLS or in clear, becomes the session's next requests, and all else is
/// relayed unseen.
///
/// The client is told that the tunnel is open before anything is dialled, since it says only then what it speaks. What
/// goes wrong after that is told in the answers to the requests in the tunnel; where none can come, the connection is
/// cut.
struct Interception {
    let opening: TunnelOpening

    private var session: ClientSession { opening.session }
    private var exchange: Exchange { opening.exchange }
    private var origin: Origin { opening.destination.origin }

    /// Milliseconds after which a silent client is taken for one that waits for the server.
    private static let patience = 1500

    /// - Returns: whether the session goes on, with the requests that come through the tunnel.
    func begin() async throws(ExchangeFailure) -> Bool {
        try await opening.greet()
        let (spoken, upstream) = try await peek()
        defer { upstream?.close() }
        switch spoken {
        case .http:
            exchange.record.tunnel = .http
            let tunnel = InterceptedTunnel(scheme: .http, host: origin.host, port: origin.port)
            session.enter(tunnel, through: session.stream, as: exchange.record.user)
            return true
        case .tls, .other:
            exchange.record.tunnel = .opaque
            if let upstream {
                try await opening.relay(with: upstream)
            } else {
                let upstream = try await connect()
                defer { upstream.close() }
                try await opening.relay(with: upstream)
            }
            return false
        }
    }

    /// Waits until it is known what is spoken. What the client has sent stays in `inbound`.
    /// - Returns: also the connection to the server, if one was made to find out.
    private func peek() async throws(ExchangeFailure) -> (SpokenProtocol, ByteStream?) {
        let (client, inbound) = (session.stream, exchange.inbound)
        var upstream: ByteStream?
        var peek = TunnelPeek.quiet
        peek.clientSpoke(inbound.readable)
        while true {
            if case .decided(let spoken) = peek { return (spoken, upstream) }
            if peek == .silent, upstream == nil { upstream = try await connect() }
            do throws(IOError) {
                let count = try await client.read(
                    into: inbound, unless: peek == .silent ? upstream : nil, idle: patience(of: peek))
                switch count {
                case nil: peek.serverSpoke()
                case 0: peek.clientEnded()
                default: peek.clientSpoke(inbound.readable)
                }
            } catch {
                guard error == .timedOut, peek != .silent else {
                    upstream?.close()
                    throw .clientLost
                }
                peek.elapse()
            }
        }
    }

    private func patience(of peek: TunnelPeek) -> Int {
        switch peek {
        case .quiet: Self.patience
        case .undecided: exchange.policy.timeouts.head
        case .silent, .decided: exchange.policy.timeouts.idle
        }
    }

    /// As for a tunnel that is not looked into, but the client has its answer already.
    private func connect() async throws(ExchangeFailure) -> ByteStream {
        do throws(ExchangeFailure) { return try await opening.connect() } catch {
            guard case .refused(let refusal) = error else { throw error }
            throw .cutShort(refusal.error, refusal.sentence)
        }
    }
}
