import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// Each test is a conversation: what happens to the request, and what the task wants done.
@Suite struct ChallengeTaskTests {
    let origin = Origin(host: "host", port: 80, protocol: .http)
    let ci = Credential(name: "ci", user: "u", password: Secret("p"))
    let other = Credential(name: "other", user: "o", password: Secret("p"))

    /// An action in one line.
    func said(_ action: ChallengeTask.Action) -> String {
        switch action {
        case .lookUpDefault(let space): "look up \(space.authenticationMethod)"
        case .ask(let challenge):
            "ask \(challenge.protectionSpace.authenticationMethod)"
                + " proposing \(challenge.proposedCredential?.version.name ?? "nothing")"
                + " after \(challenge.previousFailureCount)"
        case .answer(let answer):
            "answer \(answer.space.authenticationMethod) with \(answer.credential.version.name)"
        case .resend(let answer): "resend \(answer.credential.version.name)"
        case .sendUnanswered: "send unanswered"
        case .reread(let answer): "reread \(answer.credential.version.name)"
        case .park(let answer): "park \(answer.credential.version.name)"
        case .pass(let reason): "pass: \(reason)"
        case .cancel(let reason): "cancel: \(reason)"
        }
    }

    /// A credential that is read again has the value that it had, unless the test asks for the action itself.
    func challenged(
        _ task: inout ChallengeTask, by line: String = #"Basic realm="r", Digest realm="r", nonce="n""#,
        _ refusal: RepeatedChallenge? = nil
    ) -> String {
        let action = task.challenged(response(line), offers: offers(line), refusal: refusal)
        if case .reread = action { return said(task.reread(.unchanged)) }
        return said(action)
    }

    func response(_ line: String) -> AuthenticationChallenge.FailureResponse {
        AuthenticationChallenge.FailureResponse(challenges: challenges(line))
    }

    func offers(_ line: String) -> [Offer] { ChallengeOrder().offers(in: challenges(line), from: origin) }

    func decided(_ task: inout ChallengeTask, _ disposition: Disposition, attempts: Int = 1) -> String {
        said(task.decided(Decision(disposition, attempts: attempts, reason: "rule \"r\"")))
    }

    @Test func `a challenge is answered with the rule's credential and accepted`() {
        var task = ChallengeTask()
        #expect(challenged(&task) == "look up digest")
        #expect(said(task.foundDefault(nil)) == "ask digest proposing nothing after 0")
        #expect(decided(&task, .useCredential(ci)) == "answer digest with ci")
        #expect(task.accepted()?.credential.version == ci.version)
        #expect(task.failureCount == 0)
    }

    @Test func `a refused credential is parked, proposed again, and not sent again`() {
        var task = ChallengeTask()
        _ = challenged(&task)
        _ = task.foundDefault(nil)
        _ = decided(&task, .useCredential(ci), attempts: 3)
        #expect(challenged(&task, .refused) == "park ci")
        #expect(said(task.parked()) == "ask digest proposing ci after 1")
        #expect(decided(&task, .useCredential(ci), attempts: 3) == "look up basic")
        _ = task.foundDefault(nil)
        #expect(decided(&task, .useCredential(ci), attempts: 3) == "pass: credential ci was refused")
        #expect(task.failureCount == 1)
    }

    @Test func `a server's request for a certificate is asked about on each connection, with its issuers`() {
        let space = ProtectionSpace(
            origin: Origin(host: "host", port: 443, protocol: .https), realm: nil,
            authenticationMethod: .clientCertificate)
        let challenge = HeaderChallenge(scheme: "client-certificate")
        let offers = ["CN=a", "CN=b"].map {
            Offer(space: space, challenge: challenge, strength: 0, distinguishedNames: [$0])
        }
        var task = ChallengeTask()
        for offer in offers {
            #expect(said(task.challenged(nil, offers: [offer], refusal: nil)) == "look up client-certificate")
            guard case .ask(let asked) = task.foundDefault(nil) else { break }
            #expect(asked.distinguishedNames == offer.distinguishedNames && asked.failureResponse == nil)
            #expect(decided(&task, .useCredential(ci), attempts: 2) == "answer client-certificate with ci")
        }
        #expect(said(task.challenged(nil, offers: [offers[1]], refusal: .refused)) == "reread ci")
        #expect(said(task.reread(.unchanged)) == "park ci")
        #expect(said(task.parked()) == "ask client-certificate proposing ci after 1")
        #expect(decided(&task, .useCredential(other), attempts: 2) == "answer client-certificate with other")
        let action = task.heldBack(nil, offers: [offers[1]], for: 5000)
        #expect(said(action) == "ask client-certificate proposing other after 2")
        #expect(!task.isFinished)
        _ = decided(&task, .rejectProtectionSpace)
        #expect(task.isFinished)
    }

    @Test func `rejecting a space turns to the next challenge`() {
        var task = ChallengeTask(urlCredential: ci)
        #expect(challenged(&task) == "ask digest proposing ci after 0")
        #expect(decided(&task, .rejectProtectionSpace) == "ask basic proposing ci after 0")
        #expect(decided(&task, .rejectProtectionSpace) == "pass: every challenge was rejected (rule \"r\")")
    }

    @Test func `a credential refused in one scheme is not tried in another`() {
        var task = ChallengeTask(urlCredential: ci)
        _ = challenged(&task)
        #expect(decided(&task, .performDefaultHandling) == "answer digest with ci")
        #expect(challenged(&task, .refused) == "park ci")
        #expect(said(task.parked()) == "ask digest proposing ci after 1")
        #expect(decided(&task, .rejectProtectionSpace) == "look up basic")
        #expect(said(task.foundDefault(nil)) == "ask basic proposing ci after 1")
        #expect(decided(&task, .performDefaultHandling) == "look up basic")
        #expect(said(task.foundDefault(nil)) == "pass: no credential to use (rule \"r\")")
    }

    @Test func `the refused credential is proposed before the URL's, and that before the storage's`() {
        var task = ChallengeTask(urlCredential: ci)
        #expect(challenged(&task) == "ask digest proposing ci after 0")
        _ = decided(&task, .useCredential(other), attempts: 2)
        #expect(challenged(&task, .refused) == "park other")
        #expect(said(task.parked()) == "ask digest proposing other after 1")

        var second = ChallengeTask()
        #expect(challenged(&second) == "look up digest")
        #expect(said(second.foundDefault(other)) == "ask digest proposing other after 0")
        #expect(decided(&second, .performDefaultHandling) == "answer digest with other")
    }

    @Test
    func `default handling without a credential goes on to the next challenge, and then gives the client the response`()
    {
        var task = ChallengeTask()
        _ = challenged(&task)
        _ = task.foundDefault(nil)
        #expect(decided(&task, .performDefaultHandling) == "look up basic")
        #expect(said(task.foundDefault(nil)) == "ask basic proposing nothing after 0")
        #expect(decided(&task, .performDefaultHandling) == "pass: no credential to use (rule \"r\")")
    }

    @Test func `a value that changed is another attempt, and counts against nothing`() {
        var task = ChallengeTask()
        let line = #"Basic realm="r""#
        _ = challenged(&task, by: line)
        _ = task.foundDefault(nil)
        #expect(decided(&task, .useCredential(ci)) == "answer basic with ci")
        #expect(said(task.challenged(response(line), offers: offers(line), refusal: .refused)) == "reread ci")
        let newer = Credential(name: "ci", user: "u", password: Secret("newer"))
        #expect(said(task.reread(.newer(newer))) == "answer basic with ci")
        #expect(task.failureCount == 0 && task.accepted()?.credential.version == newer.version)
    }

    @Test func `a parked credential counts as refused, and the rules are asked again`() {
        var task = ChallengeTask()
        let line = #"Basic realm="r""#
        _ = challenged(&task, by: line)
        _ = task.foundDefault(nil)
        _ = decided(&task, .useCredential(ci), attempts: 2)
        #expect(said(task.heldBack(response(line), offers: offers(line))) == "ask basic proposing ci after 1")
        #expect(decided(&task, .useCredential(other), attempts: 2) == "answer basic with other")
        var second = ChallengeTask()
        _ = challenged(&second, by: line)
        _ = second.foundDefault(nil)
        _ = decided(&second, .useCredential(ci))
        _ = second.heldBack(response(line), offers: offers(line))
        #expect(
            decided(&second, .useCredential(ci))
                == "pass: \(ChallengeTask.PassReason.parked(credential: "ci"))")
    }

    @Test func `a method that only the first response offered has its turn when the others are done with`() {
        var task = ChallengeTask()
        _ = challenged(&task, by: "Negotiate, NTLM")
        _ = task.foundDefault(nil)
        #expect(decided(&task, .useCredential(ci)) == "answer negotiate with ci")
        #expect(challenged(&task, by: "Negotiate", .denied) == "look up ntlm")
        _ = task.foundDefault(nil)
        #expect(decided(&task, .useCredential(ci)) == "answer ntlm with ci")
    }

    @Test func `cancelling names the rule`() {
        var task = ChallengeTask()
        _ = challenged(&task)
        _ = task.foundDefault(nil)
        #expect(decided(&task, .cancelAuthenticationChallenge) == "cancel: rule \"r\"")
    }

    @Test func `a stale nonce is answered again and is no failure`() {
        var task = ChallengeTask(
            preempted: Answer(
                space: ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .digest), challenge: nil,
                credential: ci))
        #expect(challenged(&task, .retry) == "resend ci")
        #expect(task.failureCount == 0)
        #expect(task.accepted()?.credential.version == ci.version)
    }

    @Test func `a server that always says stale is given up`() {
        var task = ChallengeTask(urlCredential: ci)
        _ = challenged(&task)
        _ = decided(&task, .performDefaultHandling)
        for _ in 0..<4 { #expect(challenged(&task, .retry) == "resend ci") }
        #expect(challenged(&task, .retry) == "pass: the server keeps asking for a login")
        #expect(task.failureCount == 0)
    }

    @Test func `a server that names a new realm each time does not get the credential again`() {
        var task = ChallengeTask()
        _ = challenged(&task, by: #"Basic realm="0""#)
        _ = task.foundDefault(nil)
        #expect(decided(&task, .useCredential(ci)) == "answer basic with ci")
        #expect(challenged(&task, by: #"Basic realm="1""#, .unrelated) == "park ci")
        #expect(said(task.parked()) == "ask basic proposing ci after 1")
        #expect(decided(&task, .useCredential(ci)) == "pass: the credential was refused (rule \"r\")")
    }

    @Test func `an answer that meets a 401 without a challenge is refused`() {
        var task = ChallengeTask(urlCredential: ci)
        _ = challenged(&task)
        _ = decided(&task, .performDefaultHandling)
        #expect(challenged(&task, by: "", .unrelated) == "park ci")
        #expect(said(task.parked()) == "pass: no challenge that can be answered")
        #expect(task.failureCount == 1)
    }

    @Test(arguments: [RepeatedChallenge.unrelated, .renewed])
    func `an answer that was good before meets a 401 without a challenge: the request goes out once without`(
        refusal: RepeatedChallenge
    ) {
        let space = ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .digest)
        var task = ChallengeTask(preempted: Answer(space: space, challenge: nil, credential: ci))
        #expect(challenged(&task, by: "", refusal) == "send unanswered")
        #expect(challenged(&task, by: #"Digest realm="r", nonce="n""#) == "look up digest")
        _ = task.foundDefault(nil)
        #expect(decided(&task, .useCredential(ci)) == "answer digest with ci")
        #expect(challenged(&task, by: "", .renewed) == "pass: no challenge that can be answered")
        #expect(task.failureCount == 0)
    }

    @Test func `an answer sent unasked that meets another space was not refused`() {
        var task = ChallengeTask(
            preempted: Answer(
                space: ProtectionSpace(origin: origin, realm: "other", authenticationMethod: .basic), challenge: nil,
                credential: ci))
        #expect(challenged(&task, by: #"Basic realm="r""#, .unrelated) == "look up basic")
        #expect(said(task.foundDefault(nil)) == "ask basic proposing nothing after 0")
        #expect(decided(&task, .useCredential(ci)) == "answer basic with ci")
        #expect(task.failureCount == 0)
    }

    @Test func `a password that was sent before it was asked for, and is asked for again, is refused`() {
        var task = ChallengeTask(
            preempted: Answer(
                space: ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .basic), challenge: nil,
                credential: ci))
        let line = #"Basic realm="r""#
        #expect(challenged(&task, by: line, .refused) == "park ci")
        #expect(said(task.parked()) == "ask basic proposing ci after 1")
    }

    @Test func `an answer to another's nonce says nothing, and the request goes out once without it`() {
        var task = ChallengeTask(
            preempted: Answer(
                space: ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .digest), challenge: nil,
                credential: ci))
        let line = #"Digest realm="r", nonce="n""#
        #expect(challenged(&task, by: line, .refused) == "send unanswered")
        #expect(challenged(&task, by: line) == "look up digest")
        #expect(said(task.foundDefault(nil)) == "ask digest proposing nothing after 0")
        #expect(decided(&task, .useCredential(ci)) == "answer digest with ci")
        #expect(challenged(&task, by: line, .refused) == "park ci")
        #expect(said(task.parked()) == "ask digest proposing ci after 1")
    }

    @Test func `an answer on a nonce that was replaced is given anew, and is no failure`() {
        var task = ChallengeTask(
            preempted: Answer(
                space: ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .digest), challenge: nil,
                credential: ci))
        let line = #"Digest realm="r", nonce="new""#
        #expect(challenged(&task, by: line, .renewed) == "look up digest")
        #expect(said(task.foundDefault(nil)) == "ask digest proposing nothing after 0")
        #expect(decided(&task, .useCredential(ci)) == "answer digest with ci")
        #expect(task.failureCount == 0)
    }

    @Test func `a response with nothing to answer passes`() {
        var task = ChallengeTask(urlCredential: ci)
        #expect(challenged(&task, by: "Unheard-of, Concealed") == "pass: no challenge that can be answered")
    }

    @Test func `a parked or unusable credential passes the response`() {
        for reason in [
            ChallengeTask.PassReason.parked(credential: "ci"), .unanswerable(.userContainsColon(credential: "ci")),
        ] {
            var task = ChallengeTask(urlCredential: ci)
            _ = challenged(&task)
            _ = decided(&task, .performDefaultHandling)
            #expect(said(task.unanswerable(reason)) == "pass: \(reason)")
        }
    }

    @Test func `a response without a challenge accepts nothing`() {
        var task = ChallengeTask()
        #expect(task.accepted() == nil)
    }

    @Test func `a handshake that breaks off gives way to the next challenge, and counts as no failure`() {
        var task = ChallengeTask()
        let line = #"NTLM, Basic realm="r""#
        #expect(challenged(&task, by: line) == "look up ntlm")
        _ = task.foundDefault(nil)
        #expect(decided(&task, .useCredential(ci)) == "answer ntlm with ci")
        #expect(challenged(&task, by: line, .aborted) == "look up basic")
        #expect(said(task.foundDefault(nil)) == "ask basic proposing nothing after 0")
        #expect(decided(&task, .useCredential(ci)) == "answer basic with ci")
        #expect(task.failureCount == 0)
    }

    @Test func `a handshake that breaks off with nothing beside it ends the task`() {
        var task = ChallengeTask()
        _ = challenged(&task, by: "NTLM")
        _ = task.foundDefault(nil)
        _ = decided(&task, .useCredential(ci))
        #expect(challenged(&task, by: "NTLM", .aborted) == "pass: the server stopped the ntlm handshake")
    }

    @Test func `a handshake without end is ended`() {
        var task = ChallengeTask()
        _ = challenged(&task, by: "NTLM")
        _ = task.foundDefault(nil)
        _ = decided(&task, .useCredential(ci))
        for _ in 1...4 { #expect(challenged(&task, by: "NTLM", .proceed) == "resend ci") }
        #expect(challenged(&task, by: "NTLM", .proceed) == "pass: the server keeps asking for a login")
    }

    @Test func `a request that went out in part, and met no challenge, goes out whole, once`() {
        var task = ChallengeTask()
        for _ in 1...2 {
            _ = challenged(&task, by: "NTLM")
            _ = task.foundDefault(nil)
            _ = decided(&task, .useCredential(ci))
            if case .sendUnanswered = task.ignored() { continue }
            return
        }
        Issue.record("it was sent in part for ever")
    }
}
