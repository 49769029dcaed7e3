import Authentication
import Bytes
import Credentials
import Crypto
import Foundation
import Model
import Telemetry
import Testing

@testable import Admin
@testable import Challenges

/// The documents of `--json` against the tables that `attache help json` shows: every field of the tables is written,
/// and no other.
struct DocumentFieldTests {
    private static let now: WallTime = 1_767_225_600_000
    private static let origin = Origin(host: "ci.example", port: 443, protocol: .https)
    private static let space = ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .basic)
    private static let rule = RuleReference(name: "people", file: "/etc/attache/proxy.conf", line: 3)

    private static func names<Field: JSONField>(_: Field.Type) -> Set<String> { Set(Field.allCases.map(\.rawValue)) }

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    /// The names of all entries of a list.
    private static func names(_ list: Any?) throws -> Set<String> {
        Set(try #require(list as? [[String: Any]]).flatMap(\.keys))
    }

    private static func response() -> ResponseExcerpt {
        var response = ResponseExcerpt(status: 401, fields: [("Server", "nginx")], hiding: EchoMask())
        response.take(Array("locked".utf8), mediaType: nil, hiding: EchoMask())
        return response
    }

    @Test func `a status has the fields of the manual`() throws {
        var status = RunningStatus(
            program: (version: "1", process: 2, started: Self.now),
            addresses: (listeners: ["127.0.0.1:3128"], admin: "127.0.0.1:3127"),
            rules: .init(path: "p", loaded: Self.now, routes: 1, challenges: 1, credentials: 1, parents: 1),
            rejection: (time: Self.now, reason: "r"), store: (place: "s", problem: "p"), clients: 1)
        var parent = ParentState(ParentName("corp", kind: "http", at: "p1:3128"))
        (parent.isUsed, parent.failingSince, parent.nextTry) = (true, Self.now, Self.now)
        parent.lastError = .init(at: Self.now, "refused")
        status.parents = [parent]
        status.expiries = [Expiry(kind: "token", name: "t", place: "https://h", end: Self.now)]
        status.dated = [
            WeakUse(
                "ntlm", of: .init("http", host: "h", port: 80, as: .origin), by: "127.0.0.1", "curl", with: "ci",
                at: Self.now)
        ]
        let waiting = RunningStatus.Waiting(unanswered: 1, credentials: CredentialList(), questions: 1)
        let object = try Self.object(status.json(waiting))
        #expect(Set(object.keys) == Self.names(StatusField.self))
        #expect(object["version"] as? Int == JSONFormat.version)
        #expect(try Self.names(object["parent_servers"]) == Self.names(ParentField.self))
        #expect(try Self.names(object["expiries"]) == Self.names(ExpiryField.self))
        #expect(try Self.names(object["weak_logins"]) == Self.names(WeakUseField.self))
    }

    @Test func `a challenge has the fields of the manual`() throws {
        var entry = JournalEntry(JournalEntry.Key(Self.space, scheme: "basic"), .passed, at: Self.now)
        entry.rule = Self.rule
        entry.credential = "ci"
        entry.note(Self.response(), at: Self.now)
        entry.reason = "no rule"
        entry.remedy = "do"
        entry.suggestion = "challenge \"ci.example\" { host ci.example; use ci }"
        var solved = entry
        solved.solved = Self.now
        let object = try Self.object(JSONText.document(.challenges, [entry, solved]) { $0.challenge($1) })
        #expect(Set(object.keys) == ["version", "challenges"])
        let known = Self.names(ChallengeField.self).union(Self.names(SpaceField.self))
        let found = try Self.names(object["challenges"])
        #expect(found == known, "\(found.symmetricDifference(known))")
        let first = try #require((object["challenges"] as? [[String: Any]])?.first)
        #expect(Set(try #require(first["rule"] as? [String: Any]).keys) == Self.names(RuleField.self))
        #expect(Set(try #require(first["response"] as? [String: Any]).keys) == Self.names(ResponseField.self))
    }

    @Test func `a question and its answer have the fields of the manual`() throws {
        let proposed = Credential(name: "ci", user: "builder", password: Secret("p"))
        let challenge = AuthenticationChallenge(
            protectionSpace: Self.space, proposedCredential: proposed, previousFailureCount: 1, failureResponse: nil)
        var subject = OperatorQuestion.Subject(challenge, by: Self.rule)
        subject.details = ["d"]
        subject.response = Self.response()
        subject.pin = KeyPin(digest: [UInt8](repeating: 7, count: 32))
        subject.note("/a?b=c".utf8.span, by: "git/2")
        let client = ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil)
        let question = OperatorQuestion(7, subject, of: client, at: Self.now)
        let object = try Self.object(JSONText.document(.questions, [question]) { $0.question($1) })
        let space = Self.names(SpaceField.self)
        #expect(try Self.names(object["questions"]) == Self.names(QuestionField.self).union(space))
        let answer = try #require(
            OperatorAnswer.Standing(
                OperatorAnswer(.use("ci"), persistence: .session), to: question, until: nil, at: Self.now))
        let answers = try Self.object(JSONText.document(.answers, [answer]) { $0.answer($1) })
        #expect(try Self.names(answers["answers"]) == Self.names(AnswerField.self).union(space))
        #expect(Set(object.keys).union(answers.keys) == ["version", "questions", "answers"])
    }

    @Test func `a credential has the fields of the manual`() throws {
        let accounts = Accounts()
        let verdicts = PlayedVerdicts(accounts: accounts)
        verdicts.judge("ci", at: "http://a.example:80", .accepted)
        verdicts.judge("ci", at: "http://a.example:80", .refused, second: 60)
        verdicts.judge("ci", at: "http://a.example:80", .refused, second: 61)
        // Not sent before it is asked again: the state has `waits_for`.
        verdicts.judge("new", at: "http://a.example:80", .refused)
        let server = AuthorizationServer.endpoint(try #require(HTTPEndpoint("https://id.example/token")))
        let grant = ConfiguredCredential(
            name: "api",
            content: .oauth(
                CredentialSource.OAuth(
                    server: server, clientID: "c", proof: .none, grant: .clientCredentials, scopes: [], audience: nil)))
        let list = CredentialList(
            configured: ["ci", "new"].map { name in
                ConfiguredCredential(name: name, user: .environment("X"), password: .file("/run/secrets/\(name)"))
            } + [grant],
            stored: [.init("u", for: Self.space, version: nil, isDefault: true, lastDay: Day(number: 20_000))],
            accounts: accounts.all, at: PlayedVerdicts.start + 63_000)
        let object = try Self.object(CredentialTable.json(list))
        #expect(Set(object.keys) == ["version", "credentials"])
        let standing = Self.names(StandingField.self)
        let known = Self.names(CredentialField.self).union(Self.names(SpaceField.self)).union(standing)
        let found = try Self.names(object["credentials"])
        #expect(found == known, "\(found.symmetricDifference(known))")
        let servers = try #require(object["credentials"] as? [[String: Any]]).map { $0["servers"] }
        let judges = Set(try servers.flatMap { try Self.names($0) })
        #expect(judges.isSubset(of: Self.names(JudgeField.self).union(standing)))
        #expect(judges.isSuperset(of: Self.names(JudgeField.self)))
    }

    @Test func `all enumerated documents are there`() {
        #expect(Self.names(DocumentField.self) == ["version", "challenges", "questions", "answers", "credentials"])
    }
}
