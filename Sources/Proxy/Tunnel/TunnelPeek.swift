import Bytes
import Forwarding
import HTTP
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
        /// The client and the server have sent nothing yet. Becomes `.silent`, `.undecided` or `.decided`.
        case quiet
        /// The client has sent nothing for a while, so the server is called. Becomes `.undecided` or `.decided`.
        case silent
        /// The client has sent too little to tell. Becomes `.decided`.
        case undecided
        /// The protocol is known. Final.
        case decided(SpokenProtocol)

        /// - Parameter bytes: all bytes that the client has sent.
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

        /// Handles the client's end after too few bytes for a known protocol, and bytes or the end of the server before the
        /// client has sent any.
        mutating func giveUp() {
            if case .decided = self { return }
            self = .decided(.other)
        }

        /// Handles the end of the time for the current state.
        mutating func elapse() {
            switch self {
            case .quiet: self = .silent
            case .undecided: self = .decided(.other)
            case .silent, .decided: break
            }
        }
    }

    /// The time after which a silent client is assumed to wait for the server.
    static let patience: Milliseconds = 1500

    /// Waits until it is known what is spoken in the tunnel. The bytes that the client has sent stay in `inbound`.
    /// - Parameter connected: the connection to the server, if there is one already.
    /// - Returns: also the connection to the server, if there is one or one was made to find out.
    func spokenProtocol(
        on connected: OpenedTunnel? = nil
    ) async throws(ExchangeFailure) -> (SpokenProtocol, OpenedTunnel?) {
        let (client, inbound) = (downstream.stream, exchange.inbound)
        var upstream = connected
        var peek = connected == nil ? Peek.quiet : .silent
        peek.clientSpoke(inbound.readable)
        if connected?.early != nil { peek.giveUp() }
        while true {
            if case .decided(let spoken) = peek { return (spoken, upstream) }
            if peek == .silent, upstream == nil {
                let tunnel = try await connectForGreeted()
                upstream = tunnel
                if tunnel.early != nil { peek.giveUp() }
                continue
            }
            do throws(IOError) {
                let count = try await client.read(
                    into: inbound, unless: peek == .silent ? upstream?.stream : nil, idle: patience(with: peek))
                switch count {
                case nil, 0: peek.giveUp()
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

    private func patience(with peek: Peek) -> Milliseconds {
        let timeouts = exchange.policy.timeouts
        return switch peek {
        case .quiet: Self.patience
        case .undecided: timeouts.head
        case .silent, .decided: timeouts.idle
        }
    }

    // MARK: - The name of the server

    /// Reads until the first record of the client's handshake is complete.
    func readFirstRecord() async throws(ExchangeFailure) {
        let inbound = exchange.inbound
        while !SpokenProtocol.hasFirstRecord(inbound.readable) {
            guard await readMore() else { throw .clientLost }
        }
    }

    /// The host that the first request in the tunnel names; nil if it names none, or cannot be understood. The request stays in
    /// `inbound`.
    func firstHost() async -> [UInt8]? {
        let (inbound, head) = (exchange.inbound, RequestHead(limits: exchange.policy.limits.request))
        while true {
            guard let progress = try? head.parse(inbound.readable) else { return nil }
            if case .complete = progress {
                guard let host = head.authority?.host else { return nil }
                return inbound.readable.extracting(host).array
            }
            guard await readMore() else { return nil }
        }
    }

    /// Reads more of what the client sends; false if nothing more comes in time.
    private func readMore() async -> Bool {
        let inbound = exchange.inbound
        if inbound.writableCount == 0 { inbound.reserve(1) }
        let count = try? await downstream.stream.read(into: inbound, unless: nil, idle: exchange.policy.timeouts.head)
        return count ?? 0 > 0
    }
}
