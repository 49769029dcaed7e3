import Authentication
import Bytes
import Credentials
import Crypto
import Foundation
import Model
import Rules
import TestPolicies
import Testing

@testable import Challenges
@testable import Upstream

struct RuleDelegateTests {
    private static let rules = """
        credential used { user u; password "p" }
        credential other { user v; password "q" }
        credential unreadable { user u; password file "/nonexistent/secret" }
        challenge "a" { host use.example; use used; attempts 3; persistence none }
        challenge "b" { host reject.example; reject }
        challenge "c" { host cancel.example; cancel }
        challenge "d" { host default.example; default }
        challenge "e" { host unreadable.example; use unreadable }
        challenge "f" { host tickets.example; method negotiate; default }
        challenge "g" { host several.example; use used other unreadable }
        """

    private static func challenge(_ host: String) -> AuthenticationChallenge {
        let space = ProtectionSpace(
            origin: Origin(host: host, port: 80, protocol: .http), realm: "r",
            authenticationMethod: .basic)
        return AuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0,
            failureResponse: .init(challenges: []))
    }

    private static func negotiate(
        _ host: String, proposing credential: Credential? = nil
    ) -> AuthenticationChallenge {
        let space = ProtectionSpace(
            origin: Origin(host: host, port: 80, protocol: .http), realm: nil,
            authenticationMethod: .negotiate)
        return AuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 0,
            failureResponse: .init(challenges: []))
    }

    private static func delegate(
        _ password: ValueSource = .literal(RedactedText("p")), _ state: ChallengeState = sharedState().challenges
    ) throws -> RuleDelegate {
        let credentials: [String: (user: String, password: ValueSource)] = [
            "used": ("u", password), "other": ("v", .literal(RedactedText("q"))),
            "unreadable": ("u", .file("/nonexistent/secret")),
        ]
        return RuleDelegate(
            policy: try policy(rules, credentials: credentials).challenges, state: state,
            client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil))
    }

    @Test func `each answer of a rule is its disposition`() throws {
        let delegate = try Self.delegate()
        let found = [
            delegate.decide(Self.challenge("reject.example")), delegate.decide(Self.challenge("cancel.example")),
            delegate.decide(Self.challenge("default.example")), delegate.decide(Self.challenge("other.example")),
        ].map { "\($0.decision.disposition)" }
        #expect(
            found == [
                "rejectProtectionSpace", "cancelAuthenticationChallenge", "performDefaultHandling",
                "rejectProtectionSpace",
            ])
    }

    @Test func `a password goes to a KDC only where a rule names negotiate, else the next challenge has its turn`()
        async throws
    {
        let storage = StoredCredentials()
        let space = Self.negotiate("any.example").protectionSpace
        try await storage.set(Credential(name: "", user: "u", password: Secret("p")), for: space)
        let stored = try #require(storage.credentials(for: space)["u"])
        let ofURL = Credential(name: "url:u", user: "u", password: Secret("p"))
        #expect(stored.canAnswer(space) && !ofURL.canAnswer(space))
        let delegate = try Self.delegate()
        for (host, disposition) in [
            ("tickets.example", "performDefaultHandling"), ("default.example", "rejectProtectionSpace"),
            ("other.example", "rejectProtectionSpace"),
        ] {
            for credential in [stored, ofURL] {
                let ruled = delegate.decide(Self.negotiate(host, proposing: credential))
                #expect("\(ruled.decision.disposition)" == disposition, "\(host) \(credential)")
            }
        }
    }

    @Test func `the credential of a rule is kept as the rule says`() throws {
        let ruled = try Self.delegate().decide(Self.challenge("use.example"))
        guard case .useCredential(let credential) = ruled.decision.disposition else {
            Issue.record("\(ruled.decision)")
            return
        }
        #expect(credential.version.name == "used")
        #expect(credential.persistence == .none)
        #expect(ruled.decision.attempts == 3)
        #expect(ruled.decision.reason.contains("\"a\""))
    }

    @Test func `of several credentials the first answers that was not refused, else the last`() throws {
        let state = sharedState().challenges
        let delegate = try Self.delegate(.literal(RedactedText("p")), state)
        let challenge = Self.challenge("several.example")
        let rule = delegate.rule(for: challenge)
        var found: [String] = []
        for name in ["used", "other", "unreadable"] {
            let ruled = delegate.decide(challenge, by: rule, at: 0)
            if case .useCredential(let credential) = ruled.decision.disposition {
                found.append(credential.version.name)
                #expect(ruled.decision.attempts == 1)
                #expect(delegate.wantsFreshCredentials(for: challenge, by: rule) == (name != "used"))
                state.spaces.accounts.putOnHold(credential, at: challenge.protectionSpace.origin)
            } else {
                found.append(ruled.decision.reason)
            }
        }
        #expect(found.prefix(2) == ["used", "other"])
        #expect(found.last?.hasPrefix("credential unreadable of rule") == true)
    }

    @Test func `a secret that cannot be read cancels, and only the operator is told where it is`() throws {
        let ruled = try Self.delegate().decide(Self.challenge("unreadable.example"))
        #expect("\(ruled.decision.disposition)" == "cancelAuthenticationChallenge")
        #expect(ruled.trouble.map { "\($0)" }?.contains("/nonexistent/secret") == true)
        #expect(!ruled.decision.reason.contains("/nonexistent"))
        #expect(ruled.decision.reason.hasSuffix("cannot be read; the proxy's log says why"))
    }

    @Test func `a refused credential is read again`() async throws {
        let path = NSTemporaryDirectory() + "attache-refused-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "old\n".write(toFile: path, atomically: true, encoding: .utf8)
        let state = sharedState().challenges
        let delegate = try Self.delegate(.file(path), state)
        let challenge = Self.challenge("use.example")
        let old = try delegate.policy.credentials.credential(named: "used")
        state.spaces.accounts.putOnHold(old, at: challenge.protectionSpace.origin)
        try "new\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(delegate.wantsFreshCredentials(for: challenge, by: delegate.rule(for: challenge)))
        await state.refresh(delegate.policy.credentials)
        #expect(!delegate.wantsFreshCredentials(for: challenge, by: delegate.rule(for: challenge)))
        guard case .useCredential(let credential) = delegate.decide(challenge).decision.disposition else {
            Issue.record("another disposition")
            return
        }
        #expect(credential.version != old.version)
        #expect(credential.password?.withBytes { $0.text } == "new")
        #expect(!state.spaces.accounts.all.contains { $0.version == old.version })
    }
}

extension RuleDelegate {
    fileprivate func decide(_ challenge: AuthenticationChallenge) -> DelegateDecision {
        decide(challenge, by: rule(for: challenge), at: 0)
    }
}
