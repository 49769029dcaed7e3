import Bytes
import Model
import Testing

@testable import Rules

/// The fate of a challenge that an explanation tells.
struct ForecastTests {
    private static let rules = """
        credential a { user a; password p }
        credential b { user b; password p }
        credential t { oauth2 https://id.test/token; client-id t; client-secret s }
        challenge "use" { host use.test; use a b }
        challenge "renewed" { host token.test; use t }
        challenge "digest" { host two.test; method digest; use a }
        challenge "basic" { host two.test; method basic; use b }
        challenge "ask" { host ask.test; ask }
        challenge "second" { host chain.test; failures 1; use b }
        challenge "never" { host chain.test; failures 2; use a; attempts 2 }
        challenge "first" { host chain.test; use a }
        challenge "often" { host often.test; use a; attempts 3 }
        challenge "kdc" { host kdc.test; method negotiate; default }
        challenge "after" { host after.test; failures 0; use a }
        challenge "stop" { host after.test; cancel }

        """

    private func rounds(
        _ host: String, failures: Int = 0, method: AuthenticationMethod = .basic, space: ExplainedSpace? = nil,
        urlUser: String? = nil
    ) throws -> [Explanation.Round] {
        let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": Self.rules]))
        let rules = RuleSet(try #require(file.configuration))
        let client = ClientIdentity(address: IPAddress(v4: 0x7F00_0001))
        var request = ExplainedRequest(
            method: "GET", url: "http://\(host)/", host: host, port: 80, protocol: .http, client: client)
        request.failures = failures
        request.urlUser = urlUser
        let query = ChallengeQuery(host: host, port: 80, protocol: .http, realm: "r", method: method, client: client)
        var offers = [ExplainedRequest.Response.Offer(scheme: "Basic", query: query, space: space)]
        if host == "two.test" {
            var digest = query
            digest.method = .digest
            offers.insert(.init(scheme: "Digest", query: digest, space: space), at: 0)
        }
        let response = ExplainedRequest.Response(offers: offers)
        return Explanation.Round.all(of: { _ in response }, to: request, by: rules)
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
                == [.next(reason: "b was refused, and the rule allows no more answers with it")])
        #expect(try forecasts("use.test", space: parked("a")) == [.answer(credential: "b")])
        #expect(
            try forecasts("often.test", failures: 1) == [.next(reason: "a was refused, and has no other value")])
    }

    @Test func `where a credential was refused the rule of the next challenge has its turn`() throws {
        let spent = { (name: String) in
            Forecast.next(reason: "\(name) was refused, and the rule allows no more answers with it")
        }
        #expect(try forecasts("two.test", failures: 1) == [spent("a"), .answer(credential: "b")])
        #expect(try forecasts("two.test", failures: 2) == [spent("a"), spent("b")])
        #expect(
            try forecasts("two.test", space: parked("a")) == [
                .held(credential: "a", until: "until then"), .answer(credential: "b"),
                spent("a"), .answer(credential: "b"),
            ])
    }

    @Test func `a rule for failures answers behind them, but where it says fewer attempts`() throws {
        #expect(try forecasts("chain.test") == [.answer(credential: "a")])
        #expect(try forecasts("chain.test", failures: 1) == [.answer(credential: "b")])
        #expect(
            try forecasts("chain.test", failures: 2)
                == [.next(reason: "2 answers were refused, and the rule allows 2 in all")])
        #expect(try rounds("chain.test", failures: 1).first?.challenges.first?.ruling.attempts == 2)
    }

    @Test func `a token is renewed once, and an operator asked three times`() throws {
        for failures in 0...1 {
            #expect(try forecasts("token.test", failures: failures, method: .bearer) == [.answer(credential: "t")])
        }
        #expect(
            try forecasts("token.test", failures: 2, method: .bearer)
                == [.next(reason: "t was refused, and the rule allows no more answers with it")])
        for failures in 0...2 { #expect(try forecasts("ask.test", failures: failures) == [.asked]) }
        #expect(
            try forecasts("ask.test", failures: 3)
                == [.next(reason: "3 answers were refused, and the rule allows 3")])
        #expect(try forecasts("ask.test", failures: 1, space: parked(stored: "c")) == [.asked])
    }

    @Test func `a parked answer counts as refused, and the rules are asked again`() throws {
        #expect(
            try forecasts("use.test", space: parked("a", "b")) == [
                .held(credential: "b", until: "until then"), .held(credential: "a", until: "until then"),
                .next(reason: "b was refused, and the rule allows no more answers with it"),
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
