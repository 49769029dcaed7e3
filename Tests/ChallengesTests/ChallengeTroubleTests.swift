import Authentication
import Crypto
import Model
import Telemetry
import Testing

@testable import Challenges

struct ChallengeTroubleTests {
    private let challenger = Challenger(PlayedRequest.origin, title: "the origin")
    private let record = ExchangeRecord(keeping: [])
    private static let noTicket = AuthenticationError.noTicket(
        credential: "a", service: "HTTP/h", .unavailable("no KDC answers"))

    private static func answer(_ method: AuthenticationMethod) -> Answer {
        Answer(
            space: ProtectionSpace(origin: PlayedRequest.origin, realm: nil, authenticationMethod: method),
            challenge: nil, credential: Credential(name: "a", user: "u", password: Secret("p")))
    }

    @Test func `a missing ticket is counted once, and is the reason that the client reads`() {
        var trouble = ChallengeTrouble.unmade(Self.noTicket)
        let counts = [trouble.count(in: record), trouble.count(in: record)]
        #expect(counts == [.aborted, nil])
        #expect(trouble.unmade == nil)
        #expect(trouble.counted == Self.noTicket)
        #expect(
            trouble.sentence(instead: .aborted(.negotiate), of: challenger)
                == "the origin wants a login, and \(Self.noTicket)")
        #expect(trouble.note(on: .attemptsUsed(reason: "rule")) == "\(Self.noTicket)")
    }

    @Test func `an error that no other method mends is not counted`() {
        var trouble = ChallengeTrouble.unmade(.noRandomness)
        let count = trouble.count(in: record)
        #expect(count == nil)
        #expect(trouble.unmade == .noRandomness)
        #expect(trouble.sentence(instead: .aborted(.ntlm), of: challenger) == nil)
    }

    @Test func `a response that passes for another reason keeps its own note`() {
        let trouble = ChallengeTrouble.counted(Self.noTicket)
        #expect(trouble.sentence(instead: .endless, of: challenger) == nil)
        #expect(trouble.note(on: .endless) == PassReason.endless.description)
        #expect(trouble.note(on: .nothingToAnswer) == nil)
    }

    @Test func `the operator reads the KDC's refusal, and else the server's`() {
        let refused = ChallengeTrouble.counted(
            .noTicket(credential: "a", service: "s", .refused("the password is wrong")))
        #expect(
            refused.refusal(of: Self.answer(.negotiate), by: challenger)
                == "was refused (the password is wrong)")
        #expect(refused.refusal(of: Self.answer(.basic), by: challenger) == "was refused by h:80")
        #expect(
            ChallengeTrouble.none.refusal(of: Self.answer(.negotiate), by: challenger) == "was refused by h:80")
    }
}
