import Bytes
import Model
import Testing

@testable import TLS

@Suite struct HostilePeerTests {
    /// Repeats itself, so that a failure can be looked at.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `Whatever is changed on the way, both sides come to an end, and no changed byte is read`(
        version: TLSVersion
    ) throws {
        let context = try plainServer()
        for seed in 0..<300 {
            var dice = Dice(state: UInt64(seed))
            let talk = try Conversation(client: ClientTLSContext.Settings(maximum: version), server: context)
            let spoiled = Bool.random(using: &dice) ? talk.clientEnd : talk.serverEnd
            spoiled.spoils = Int.random(in: 0..<3000, using: &dice)
            spoiled.mask = UInt8.random(in: 1...255, using: &dice)
            do {
                try talk.shake()
                for _ in 0..<40 {
                    #expect(try Conversation.pass("what is said", from: talk.client, to: talk.server) == "what is said")
                    #expect(try Conversation.pass("an answer", from: talk.server, to: talk.client) == "an answer")
                }
            } catch is Conversation.Stuck {
                // A length that was changed makes a side wait for the rest: the deadline ends that.
            } catch let error as TLSError {
                #expect(error.isOfPeer, "\(seed): \(error)")
            }
        }
    }
}

extension TLSError {
    /// Whether the peer is at fault, or the network.
    var isOfPeer: Bool {
        switch self {
        case .alert, .peer, .truncated, .serverChanged, .transport: true
        case .identityWanted, .trustRefused, .noIdentity, .clientRefused, .unusableIdentity, .local: false
        }
    }
}
