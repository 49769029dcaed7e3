import Bytes
import Forwarding
import IO
import Transport
import Upstream

extension TunnelOpening {
    /// Finds out what is spoken in a tunnel before anything is done in it.
    ///
    /// Nearly always the client speaks first, and its first bytes tell. A client that stays silent may wait for a server
    /// that speaks first, as those of mail do, or may just have opened the tunnel ahead of time: so the server is called,
    /// and the side that speaks next decides.
    enum Peek: Equatable {
        /// Neither side has spoken yet. Becomes `.silent`, `.undecided` or `.decided`.
        case quiet
        /// Neither side has spoken for a while: the server is to be called. Becomes `.undecided` or `.decided`.
        case silent
        /// The client has sent too little to tell. Becomes `.decided`.
        case undecided
        /// Stays.
        case decided(SpokenProtocol)

        /// - Parameter bytes: all that the client has sent.
        mutating func clientSpoke(_ bytes: Span<UInt8>) {
            switch self {
            case .quiet, .silent, .undecided:
                if let spoken = SpokenProtocol.told(by: bytes) {
                    self = .decided(spoken)
                } else if !bytes.isEmpty {
                    self = .undecided
                }
            case .decided: break
            }
        }

        /// The client has said all that it will say, which is too little for a protocol we know.
        mutating func clientEnded() {
            if case .decided = self { return }
            self = .decided(.other)
        }

        /// The server spoke, or ended, before the client had said a word.
        mutating func serverSpoke() {
            if case .decided = self { return }
            self = .decided(.other)
        }

        /// The time for the state it is in is over.
        mutating func elapse() {
            switch self {
            case .quiet: self = .silent
            case .undecided: self = .decided(.other)
            case .silent, .decided: break
            }
        }
    }
}

extension TunnelOpening {
    /// Milliseconds after which a silent client is taken for one that waits for the server.
    private static let patience = 1500

    /// Waits until it is known what is spoken in the tunnel. The bytes that the client has sent stay in `inbound`.
    /// - Returns: also the connection to the server, if one was made to find out.
    func spokenProtocol() async throws(ExchangeFailure) -> (SpokenProtocol, OpenedTunnel?) {
        let (client, inbound) = (requester.stream, exchange.inbound)
        var upstream: OpenedTunnel?
        var peek = Peek.quiet
        peek.clientSpoke(inbound.readable)
        while true {
            if case .decided(let spoken) = peek { return (spoken, upstream) }
            if peek == .silent, upstream == nil {
                let tunnel = try await connectForGreeted()
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

    private func patience(with peek: Peek) -> Int {
        let timeouts = exchange.policy.timeouts
        return switch peek {
        case .quiet: Self.patience
        case .undecided: timeouts.head
        case .silent, .decided: timeouts.idle
        }
    }
}
