import Bytes
import Foundation
import Model
import Testing

@testable import TLS

/// A client and a server of this engine that talk through memory, one step at a time.
final class Conversation {
    let client: TLSConnection
    let server: TLSConnection
    let clientEnd: MemoryTransport
    let serverEnd: MemoryTransport
    /// The questions to the server of the conversation.
    private(set) var questions: [String] = []
    var identity: Identity?
    /// The client's judgement of the server; nil refuses.
    var judges: (PresentedChain) throws -> ServerTrust? = { try Conversation.trusting($0) }

    struct Stuck: Error {}

    init(
        client settings: ClientTLSContext.Settings = ClientTLSContext.Settings(), server context: ServerTLSContext,
        name: ServerName = .host("server.example.test"), sessions: (any SessionSlot)? = nil,
        chooseIdentity: (([DistinguishedName]) -> Identity?)? = nil
    ) throws {
        (clientEnd, serverEnd) = MemoryTransport.pair()
        client = try TLSConnection(
            client: .shared(for: settings), to: name, over: clientEnd, sessions: sessions,
            chooseIdentity: chooseIdentity)
        server = try TLSConnection(server: context, over: serverEnd)
        identity = try TestIdentity.server()
    }

    /// Both sides take turns until both are done; the first error of either side ends it.
    func shake() throws {
        for _ in 0..<10_000 {
            let mine = try step(client)
            let theirs = try step(server)
            if mine, theirs { return }
        }
        throw Stuck()
    }

    func step(_ side: TLSConnection) throws -> Bool {
        switch try side.handshake() {
        case .done:
            // The bytes that the transport did not take yet are sent.
            _ = side.isReadable
            return true
        case .wouldBlock: return false
        case .serverTrust(let chain):
            questions.append("trust \(chain.leaf)")
            if let trust = try judges(chain) { client.trust(trust) } else { client.refuseTrust() }
        case .serverIdentity(let name):
            questions.append("identity \(name ?? "-")")
            if let identity { server.setIdentity(identity) } else { server.refuseIdentity() }
        }
        return false
    }

    /// Trusts any chain, for any server name.
    static func trusting(_ chain: PresentedChain, decision: String? = nil) throws -> ServerTrust {
        let evaluation = TrustEvaluation.of(
            chain, for: .host("server.example.test"), anchors: try TrustAnchors(only: [chain.leaf]),
            at: WallTime(seconds: time(nil)))
        guard case .trusted(let chain) = evaluation.forgiving([]) else { throw Stuck() }
        return ServerTrust(chain, decision: decision)
    }

    /// Sends a text from one side and reads it on the other.
    static func pass(_ text: String, from sender: TLSConnection, to receiver: TLSConnection) throws -> String {
        let outgoing = ByteBuffer(capacity: 64)
        outgoing.append(text)
        let incoming = ByteBuffer(capacity: 1 << 16)
        for _ in 0..<10_000 {
            if !outgoing.isEmpty, case .failed(let errno) = sender.write(from: outgoing) {
                throw sender.failure ?? .transport(errno: errno)
            }
            incoming.reserve(1)
            switch receiver.read(into: incoming) {
            case .failed(let errno): throw receiver.failure ?? .transport(errno: errno)
            case .endOfStream: throw Stuck()
            case .moved, .wouldBlock: if incoming.count >= text.utf8.count { return incoming.readable.text }
            }
        }
        throw Stuck()
    }

    static func read(_ side: TLSConnection) -> RecordTransfer { side.read(into: ByteBuffer(capacity: 1 << 16)) }
}

/// A context that is shared by all tests that want nothing special.
func plainServer() throws -> ServerTLSContext { try ServerTLSContext() }
