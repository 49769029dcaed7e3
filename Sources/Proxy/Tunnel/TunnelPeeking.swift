import Bytes
import Forwarding
import IO
import Transport
import Upstream

/// Waits until it is known what is spoken in a tunnel: what `TunnelPeek` says is done here.
struct TunnelPeeking {
    let opening: TunnelOpening

    /// Milliseconds after which a silent client is taken for one that waits for the server.
    private static let patience = 1500

    /// The bytes that the client has sent stay in `inbound`.
    /// - Returns: also the connection to the server, if one was made to find out.
    func spokenProtocol() async throws(ExchangeFailure) -> (SpokenProtocol, OpenedTunnel?) {
        let (client, inbound) = (opening.requester.stream, opening.exchange.inbound)
        var upstream: OpenedTunnel?
        var peek = TunnelPeek.quiet
        peek.clientSpoke(inbound.readable)
        while true {
            if case .decided(let spoken) = peek { return (spoken, upstream) }
            if peek == .silent, upstream == nil {
                let tunnel = try await opening.connectForGreeted()
                upstream = tunnel
                if tunnel.early != nil { peek.serverSpoke() }
                continue
            }
            do throws(IOError) {
                let count = try await client.read(
                    into: inbound, unless: peek == .silent ? upstream?.stream : nil, idle: patience(with: peek))
                switch count {
                case nil: peek.serverSpoke()
                case 0: peek.clientEnded()
                default: peek.clientSpoke(inbound.readable)
                }
            } catch {
                guard error == .timedOut, peek != .silent else {
                    upstream?.stream.close()
                    throw .clientLost
                }
                peek.elapse()
            }
        }
    }

    private func patience(with peek: TunnelPeek) -> Int {
        let timeouts = opening.exchange.policy.timeouts
        return switch peek {
        case .quiet: Self.patience
        case .undecided: timeouts.head
        case .silent, .decided: timeouts.idle
        }
    }
}
