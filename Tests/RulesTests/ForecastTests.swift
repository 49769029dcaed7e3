import Bytes
import Model
import Testing

@testable import Rules

/// The fate of a challenge that an explanation tells.
struct ForecastTests {
    private static let rules = """
        credential a { user a; password p }
        credential b { user b; password p }
        challenge "use" { host use.test; use a b; attempts 2 }
        challenge "often" { host often.test; use a; attempts 3 }
        challenge "kdc" { host kdc.test; method negotiate; default }
        challenge "after" { host after.test; failures 0; use a }
        challenge "stop" { host after.test; cancel }

        """

    private func rounds(
        _ host: String, failures: Int = 0, method: AuthenticationMethod = .basic, space: ExplainedSpace? = nil,
        urlUser: String? = nil
    ) throws -> [ExplainedRound] {
        let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": Self.rules]))
        let rules = RuleSet(try #require(file.configuration))
        let client = ClientIdentity(address: IPAddress(v4: 0x7F00_0001))
        var request = ExplainedRequest(
            method: "GET", url: "http://\(host)/", host: host, port: 80, protocol: .http, client: client)
        request.failures = failures
        request.urlUser = urlUser
        let query = ChallengeQuery(host: host, port: 80, protocol: .http, realm: "r", method: method, client: client)
        let response = ExplainedResponse(offers: [.init(scheme: "Basic", query: query, space: space)])
        return ExplainedRound.all(of: { _ in response }, to: request, by: rules)
    }

    private func forecasts(
        _ host: String, failures: Int = 0, method: AuthenticationMethod = .basic, space: ExplainedSpace? = nil,
        urlUser: String? = nil
    ) throws -> [Forecast] {
        try rounds(host, failures: failures, method: method, space: space, urlUser: urlUser)
            .flatMap { $0.challenges.map(\.forecast) }
    }

    private func parked(_ names: String..., stored: String? = nil) -> ExplainedSpace {
        ExplainedSpace(stored: stored, refused: names.map { .init(credential: $0, end: "until then") })
    }

    @Test func `of several credentials the first answers that was not refused`() throws {
        #expect(try forecasts("use.test") == [.answer(credential: "a")])
        #expect(try forecasts("use.test", failures: 1) == [.answer(credential: "b")])
        #expect(
            try forecasts("use.test", failures: 2)
                == [.pass(reason: "2 answers were refused, and the rule allows 2")])
        #expect(try forecasts("use.test", space: parked("a")) == [.answer(credential: "b")])
        #expect(
            try forecasts("often.test", failures: 1) == [.pass(reason: "a was refused, and has no other value")])
    }

    @Test func `a parked answer counts as refused, and the rules are asked again`() throws {
        #expect(
            try forecasts("use.test", space: parked("a", "b")) == [
                .held(credential: "b", until: "until then"), .pass(reason: "b was refused, and has no other value"),
            ])
        let rounds = try rounds("after.test", space: parked("a"))
        #expect(rounds.map(\.failures) == [0, 1])
        #expect(
            rounds.flatMap { $0.challenges.map(\.forecast) } == [.held(credential: "a", until: "until then"), .cancel])
    }

    @Test func `default answers with what is kept, and else leaves it to the next challenge`() throws {
        #expect(try forecasts("other.test") == [.open])
        #expect(try forecasts("other.test", space: parked(stored: "c")) == [.answer(credential: "c")])
        #expect(try forecasts("other.test", space: parked()) == [.next(reason: "nothing is stored for it")])
        #expect(try forecasts("other.test", urlUser: "u") == [.answer(credential: "u")])
        #expect(try forecasts("other.test", failures: 1) == [.next(reason: "the credential was refused")])
        #expect(
            try forecasts("other.test", space: parked("c", stored: "c")) == [
                .held(credential: "c", until: "until then"), .next(reason: "the credential was refused"),
            ])
        #expect(try forecasts("kdc.test", method: .negotiate) == [.open])
        guard case .next = try forecasts("other.test", method: .negotiate)[0] else {
            Issue.record("a password went to a KDC")
            return
        }
    }
}
