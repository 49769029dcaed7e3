import Authentication
import Bytes
import Model
import Rules
import Telemetry
import Testing

@testable import Challenges

/// The report to operators about a response whose challenges were not answered.
struct UnansweredResponseTests {
    private static func finding(_ challenges: String) throws -> UnansweredResponse.Finding {
        let delegate = RuleDelegate(
            policy: try PlayedRequest.policy(""), state: PlayedRequest.freshState(),
            client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001)))
        var parser = ChallengeParser()
        if !challenges.isEmpty { parser.parse(challenges.utf8Span.span) }
        let response = UnansweredResponse(
            from: Challenger(PlayedRequest.origin, title: "the origin"), to: delegate, lines: [challenges],
            challenges: parser.challenges, note: nil, outcome: .passed)
        return try #require(response.note(at: 1))
    }

    @Test(arguments: [
        ("", []), ("Basic realm=\"a\", Basic realm=\"b\"", ["basic"]),
        ("Digest realm=\"a\", nonce=\"1\", Basic realm=\"a\", Basic realm=\"b\"", ["digest", "basic"]),
        ("Odd realm=\"a\", Odd realm=\"b\"", ["odd"]),
    ])
    func `each scheme is named once, and none where the server names none`(challenges: String, schemes: [String]) throws
    {
        let finding = try Self.finding(challenges)
        #expect(finding.schemes.map { $0.name.lowercased() } == schemes)
        let report = finding.report(on: Challenger(PlayedRequest.origin, title: "the origin"))
        #expect(report.contains(" (") == !schemes.isEmpty, "\(report)")
    }
}
