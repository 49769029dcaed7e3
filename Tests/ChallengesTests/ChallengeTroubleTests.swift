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

    @Test func `a missing ticket is counted once, and is the reason that the client reads`() {
        var trouble = ChallengeLoop.Trouble.unmade(Self.noTicket)
        let counts = [trouble.count(in: record), trouble.count(in: record)]
        #expect(counts == [.aborted, nil])
        #expect(trouble.unmade == nil)
        if case .counted(let error) = trouble { #expect(error == Self.noTicket) } else { Issue.record("\(trouble)") }
        #expect(
            trouble.sentence(instead: .aborted(.negotiate), of: challenger)
                == "the origin asks for a login, but \(Self.noTicket)")
        #expect(trouble.note(on: .attemptsUsed(reason: "rule")) == "\(Self.noTicket)")
    }

    @Test func `an error that no other method mends is not counted`() {
        var trouble = ChallengeLoop.Trouble.unmade(.noRandomness)
        let count = trouble.count(in: record)
        #expect(count == nil)
        #expect(trouble.unmade == .noRandomness)
        #expect(trouble.sentence(instead: .aborted(.ntlm), of: challenger) == nil)
    }

    @Test func `a response that passes for another reason keeps its own note`() {
        let trouble = ChallengeLoop.Trouble.counted(Self.noTicket)
        #expect(trouble.sentence(instead: .endless, of: challenger) == nil)
        #expect(trouble.note(on: .endless) == ChallengeTask.PassReason.endless.description)
        #expect(trouble.note(on: .nothingToAnswer) == nil)
    }
}
