import Authentication
import Credentials
import HTTP
import IO
import Model
import Telemetry
import TestSupport
import Testing

@testable import Challenges

struct ChallengeLoopTests {
    private static let rules = "challenge \"r\" { host h; use a }"
    private static let basic = "Basic realm=\"r\""

    /// Plays a conversation with the loop and returns its result.
    private static func play(
        _ rules: String = rules, _ conversation: @escaping @Sendable (PlayedRequest) async throws -> [String]
    ) async throws -> [String] {
        try await onLoop { loop in try await conversation(PlayedRequest(rules, on: loop)) }
    }

    @Test func `a challenge is answered, and the answer is remembered once it is accepted`() async throws {
        let lines = try await Self.play { request in
            await request.loop.prepared()
            let first = await request.send()
            let verdict = await request.receive(.unauthorized, challenges: [Self.basic])
            let second = await request.send()
            let trials = request.server.trials
            let end = await request.receive(.ok)
            let server = PlayedRequest.origin.serverName
            let version = try request.context.policy.credentials.credential(named: "a").version
            return [
                first ?? "none", verdict, second ?? "none", "\(trials)", end,
                "\(request.state.spaces.accounts.hasAccepted(version, at: server))", "\(request.record.facts.attempts)",
            ]
        }
        #expect(lines == ["none", "again", "Basic dTpw", "1", "pass", "true", "1"])
    }

    @Test func `a refused version is not sent again by the next request for the target`() async throws {
        let lines = try await onLoop { loop in
            let first = try PlayedRequest(Self.rules, on: loop)
            _ = await first.receive(.unauthorized, challenges: [Self.basic])
            _ = await first.send()
            let refused = await first.receive(.unauthorized, challenges: [Self.basic])
            let second = try PlayedRequest(Self.rules, state: first.state, on: loop)
            let parked = await second.receive(.unauthorized, challenges: [Self.basic])
            return [refused, parked, await second.send() ?? "none"]
        }
        #expect(
            lines == [
                "pass: the credential was refused (rule \"r\" (proxy.conf:4))",
                "pass: credential a was refused before and is on hold: the next try is in 30 minutes", "none",
            ])
    }

    @Test func `a server in trouble has judged nothing`() async throws {
        let lines = try await Self.play { request in
            _ = await request.receive(.unauthorized, challenges: [Self.basic])
            _ = await request.send()
            let end = await request.receive(.badGateway)
            let server = PlayedRequest.origin.serverName
            let version = try request.context.policy.credentials.credential(named: "a").version
            return [end, "\(request.state.spaces.accounts.hasAccepted(version, at: server))"]
        }
        #expect(lines == ["pass", "false"])
    }

    @Test func `a token that cannot be made ends the request with its reason`() async throws {
        let lines = try await Self.play("challenge { host h; method ntlm; use a }") { request in
            let login = PlayedLogin()
            login.fault = .noRandomness
            request.server.login = login
            let asked = await request.receive(.unauthorized, challenges: ["NTLM"])
            let sent = await request.send()
            return [asked, sent ?? "none", await request.receive(.unauthorized, challenges: ["NTLM"])]
        }
        #expect(lines == ["again", "none", "pass: the system gave no random bytes"])
    }

    @Test func `a rule that cancels is named, and nothing is sent again`() async throws {
        let lines = try await Self.play("challenge \"no\" { host h; cancel }") { request in
            [await request.receive(.unauthorized, challenges: [Self.basic])]
        }
        #expect(lines == ["cancel: the origin asks for a login, but rule \"no\" (proxy.conf:4) refuses"])
    }
}
