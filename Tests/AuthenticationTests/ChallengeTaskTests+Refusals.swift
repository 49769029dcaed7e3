import Crypto
import Model
import Testing

@testable import Authentication

/// The credentials and challenges that have their turn behind a refusal.
extension ChallengeTaskTests {
    @Test func `a rule's attempts limit what may be refused of one credential`() {
        let line = #"Digest realm="r", nonce="n""#
        for attempts in 0...3 {
            var task = ChallengeTask()
            _ = challenged(&task, by: line)
            _ = task.foundDefault(nil)
            for attempt in 1..<(1 + attempts) {
                let fresh = Credential(name: "ci", user: "u", password: Secret("\(attempt)"))
                let answered = decided(&task, .useCredential(fresh), attempts: attempts)
                #expect(answered == "answer digest with ci")
                #expect(challenged(&task, by: line, .refused) == "park ci")
                #expect(said(task.parked()) == "ask digest proposing ci after \(attempt)")
            }
            var second = task
            #expect(decided(&second, .useCredential(ci), attempts: attempts).hasPrefix("pass: "))
            let said = decided(&task, .useCredential(other), attempts: attempts)
            #expect(
                said == (attempts == 0 ? "pass: the credential was refused (rule \"r\")" : "answer digest with other"))
        }
    }

    @Test func `where a credential was refused the response's other challenges are answered, each by its rule`() {
        var task = ChallengeTask()
        _ = challenged(&task)
        _ = task.foundDefault(nil)
        _ = decided(&task, .useCredential(ci))
        #expect(challenged(&task, .refused) == "park ci")
        #expect(said(task.parked()) == "ask digest proposing ci after 1")
        #expect(decided(&task, .useCredential(ci)) == "look up basic")
        #expect(said(task.foundDefault(nil)) == "ask basic proposing ci after 1")
        #expect(decided(&task, .useCredential(other)) == "answer basic with other")
        #expect(challenged(&task, .refused) == "park other")
        #expect(said(task.parked()) == "look up digest")
        _ = task.foundDefault(nil)
        _ = decided(&task, .useCredential(ci))
        let last = said(task.decided(Decision(.useCredential(other), reason: "rule \"second\"")))
        #expect(last == "pass: the credential was refused (rule \"second\")", "it was refused last")
        #expect(task.failureCount == 2)
    }

    @Test func `a value that was refused is not sent under another name, and the next challenge has its turn`() {
        var task = ChallengeTask()
        _ = challenged(&task)
        _ = task.foundDefault(nil)
        _ = decided(&task, .useCredential(ci))
        _ = challenged(&task, .refused)
        _ = task.parked()
        let same = Credential(name: "same", user: "u", password: Secret("p"))
        #expect(decided(&task, .useCredential(same)) == "look up basic")
        #expect(said(task.foundDefault(same)) == "ask basic proposing ci after 1")
        #expect(decided(&task, .useCredential(same), attempts: 3) == "pass: credential same was refused")
        #expect(task.failureCount == 1)
    }

    @Test func `a parked credential gives way to the next challenge's, and is the reason where that has none`() {
        for isRejected in [true, false] {
            let line = #"Basic realm="r", Digest realm="r", nonce="n""#
            var task = ChallengeTask()
            _ = challenged(&task)
            _ = task.foundDefault(nil)
            _ = decided(&task, .useCredential(ci))
            #expect(said(task.heldBack(response(line), offers: offers(line))) == "ask digest proposing ci after 1")
            #expect(decided(&task, .useCredential(ci)) == "look up basic")
            _ = task.foundDefault(nil)
            if isRejected {
                #expect(
                    decided(&task, .rejectProtectionSpace)
                        == "pass: \(ChallengeTask.PassReason.parked(credential: "ci"))")
            } else {
                #expect(decided(&task, .useCredential(other)) == "answer basic with other")
            }
        }
    }

    @Test func `default handling behind a refusal answers with what is kept, unless that was refused`() {
        for (kept, said) in [(other, "answer digest with other"), (ci, "pass: no credential to use (rule \"r\")")] {
            let line = #"Digest realm="r", nonce="n""#
            var task = ChallengeTask()
            _ = challenged(&task, by: line)
            _ = task.foundDefault(nil)
            _ = decided(&task, .useCredential(ci))
            _ = challenged(&task, by: line, .refused)
            #expect(self.said(task.parked()) == "ask digest proposing ci after 1")
            #expect(decided(&task, .performDefaultHandling) == "look up digest")
            #expect(self.said(task.foundDefault(kept)) == said)
        }
        var task = ChallengeTask(urlCredential: other)
        _ = challenged(&task)
        _ = decided(&task, .useCredential(ci))
        _ = challenged(&task, .refused)
        _ = task.parked()
        #expect(decided(&task, .performDefaultHandling) == "answer digest with other")
    }

    @Test func `the delegate is told by which rule the refused answers were given`() {
        var task = ChallengeTask()
        _ = challenged(&task)
        _ = task.foundDefault(nil)
        _ = task.decided(Decision(.useCredential(ci), reason: "rule \"a\""))
        _ = challenged(&task, .refused)
        guard case .ask(let challenge) = task.parked() else {
            Issue.record("nobody was asked")
            return
        }
        #expect(challenge.refused == [ci.version])
        #expect(challenge.refusals(by: "rule \"a\"") == 1 && challenge.refusals(by: "rule \"b\"") == 0)
    }
}
