import Authentication
import Bytes
import Credentials
import HTTP
import IO
import Model
import Rules
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Challenges

struct PreemptiveAnswerTests {
    private static let rules = "challenge \"r\" { host h; use a }"

    /// The state after a request that was accepted with an answer to that challenge.
    private static func state(after challenge: String, on loop: EventLoop) async throws -> ChallengeState {
        let request = try PlayedRequest(rules, on: loop)
        #expect(await request.send() == nil)
        #expect(await request.receive(.unauthorized, challenges: [challenge]) == "again")
        #expect(await request.send() != nil)
        #expect(await request.receive(.ok) == "pass")
        return request.state
    }

    private static func known(_ request: PlayedRequest) -> PreemptiveAnswer? {
        PreemptiveAnswer(request.context.source, to: request.context.request.target, noting: request.record)
    }

    @Test func `nothing is known of a space before its first answer was accepted`() async throws {
        let isKnown = try await onLoop { loop in
            let request = try PlayedRequest(Self.rules, on: loop)
            return Self.known(request) != nil
        }
        #expect(!isKnown)
    }

    @Test(arguments: ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
    func `a known answer is given unasked, is noted, and passes what is no challenge`(_ challenge: String) async throws
    {
        try await onLoop { loop in
            let state = try await Self.state(after: challenge, on: loop)
            let request = try PlayedRequest(Self.rules, state: state, on: loop)
            var known = try #require(Self.known(request))
            #expect(request.record.credential == "a" && request.record.rule != nil)
            let value = ByteBuffer(capacity: 256)
            let target = request.context.request.target
            let isAnswered = known.authorize(method: "GET".utf8Span.span, target: target.readable, into: value)
            #expect(isAnswered)
            #expect(
                value.readable.text.hasPrefix(challenge.hasPrefix("Basic") ? "Basic dTpw" : "Digest username=\"u\""))
            let statuses = [Status.ok, .notFound, .forbidden, .badGateway, .unauthorized]
            let passing = statuses.filter {
                known.passes($0, information: nil, target: target.readable, from: .origin)
            }
            #expect(passing == statuses.dropLast())
            // It may be the parent's refusal.
            let passesParent = known.passes(.unauthorized, information: nil, target: target.readable, from: .proxy)
            #expect(!passesParent)
        }
    }

    @Test func `the first, second and fourth acceptance are news, and a failure of the server is none`() async throws {
        let news = try await onLoop { loop in
            let state = try await Self.state(after: "Basic realm=\"r\"", on: loop)
            let request = try PlayedRequest(Self.rules, state: state, on: loop)
            var known = try #require(Self.known(request))
            let target = request.context.request.target
            _ = known.authorize(method: "GET".utf8Span.span, target: target.readable, into: ByteBuffer(capacity: 64))
            return ([.ok, .badGateway, .ok, .badGateway, .ok, .ok, .ok] as [Status]).map { known.isNews($0) }
        }
        #expect(news == [true, false, true, false, true, false, true])
    }

    @Test func `a hold that its acceptance ends is lifted by its client`() async throws {
        let events = try await onLoop { loop in
            let state = try await Self.state(after: "Basic realm=\"r\"", on: loop)
            let request = try PlayedRequest(Self.rules, state: state, on: loop)
            var known = try #require(Self.known(request))
            let evidence = try #require(known.answer?.evidence)
            let target = request.context.request.target
            let value = ByteBuffer(capacity: 256)
            for _ in 1...2 {
                let admission = evidence.admit(target.readable, under: Evidence.RetryTerms(retry: [30_000]), now: 0)
                if case .send(let attempt) = admission { attempt.settle(.refused, now: 0) }
            }
            let told = Mutex<[AuditEvent]>([])
            state.audit.onEvent { event in told.withLock { $0.append(event) } }
            _ = known.authorize(method: "GET".utf8Span.span, target: target.readable, into: value)
            let client = ClientIdentity(address: IPAddress(v4: 0x0A00_0007), user: "ann")
            #expect(known.isNews(.ok))
            known.noteAcceptance(at: target.readable, sample: nil, of: client, now: 0)
            return told.withLock(\.self)
        }
        #expect(events.map(\.name) == [.credentialLifted])
        #expect(events.first?.actor == .client(address: "10.0.0.7", user: "ann"))
    }

    @Test func `a wrong proof of the server is left to the loop, which cancels`() async throws {
        let verdict = try await onLoop { loop in
            let state = try await Self.state(after: "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", on: loop)
            let request = try PlayedRequest(Self.rules, state: state, on: loop) { source in
                let target = ByteBuffer(capacity: 8)
                target.append("/a" as StaticString)
                var known = PreemptiveAnswer(source, to: target, noting: .init(keeping: []))
                let value = ByteBuffer(capacity: 256)
                _ = known?.authorize(method: "GET".utf8Span.span, target: target.readable, into: value)
                let wrong = "rspauth=\"00\", qop=auth, nc=00000002, cnonce=\"c\""
                let passes = known?.passes(
                    .ok, information: wrong.utf8Span.span, target: target.readable, from: .origin)
                #expect(passes == false)
                return known
            }
            return await request.receive(.ok, information: "rspauth=\"00\", qop=auth, nc=00000002, cnonce=\"c\"")
        }
        #expect(verdict.hasPrefix("cancel: the origin could not prove that it knows the password"))
    }

    @Test func `a loop that goes on after a known answer treats its challenge as unasked`() async throws {
        let verdicts = try await onLoop { loop in
            let state = try await Self.state(after: "Basic realm=\"r\"", on: loop)
            let request = try PlayedRequest(Self.rules, state: state, on: loop) { source in
                let target = ByteBuffer(capacity: 8)
                target.append("/a" as StaticString)
                var known = PreemptiveAnswer(source, to: target, noting: .init(keeping: []))
                _ = known?.authorize(method: "GET".utf8Span.span, target: target.readable, into: .init(capacity: 64))
                return known
            }
            // Another realm: the answer was never judged, and is given to it.
            return [
                await request.receive(.unauthorized, challenges: ["Basic realm=\"other\""]),
                await request.send() ?? "", await request.receive(.ok),
            ]
        }
        #expect(verdicts == ["again", "Basic dTpw", "pass"])
    }

    @Test func `a target that was seen to need no answer gets none, without a loop`() async throws {
        let isAnswered = try await onLoop { loop -> Bool? in
            let first = try PlayedRequest(Self.rules, on: loop)
            await first.loop.prepared()
            _ = await first.receive(.ok)
            let second = try PlayedRequest(Self.rules, state: first.state, on: loop)
            var known = Self.known(second)
            let target = second.context.request.target
            return known?.authorize(
                method: "GET".utf8Span.span, target: target.readable, into: ByteBuffer(capacity: 64))
        }
        #expect(isAnswered == false)
    }

    @Test func `a known answer is looked for anew when it was refused, has another value, or other rules hold`()
        async throws
    {
        try await onLoop { loop in
            let state = try await Self.state(after: "Basic realm=\"r\"", on: loop)
            let request = try PlayedRequest(Self.rules, state: state, on: loop)
            let answer = try #require(Self.known(request)?.answer)
            #expect(Self.known(request)?.answer === answer)
            #expect(request.context.challenger.latestAnswer != nil)
            let others = request.context.policy.credentials.generation
            request.context.policy.credentials.refresh()
            #expect(request.context.policy.credentials.generation == others)
            let evidence = try #require(answer.evidence)
            evidence.judge(evidence.send(), .refused, at: "/x".utf8Span.span, now: 0)
            #expect(Self.known(request)?.answer == nil)
            state.spaces.accounts.reset(at: 0) { _, _ in true }
            #expect(Self.known(request) != nil)
            evidence.judge(evidence.send(), .refused, at: "/x".utf8Span.span, now: 0)
            #expect(Self.known(request)?.answer == nil)
            let refused = try PlayedRequest("challenge \"r\" { host h; reject }", state: state, on: loop)
            refused.context.challenger.latestAnswer = request.context.challenger.latestAnswer
            #expect(Self.known(refused) == nil)
        }
    }

    @Test func `an answer that depends on the client is known again to that client alone`() async throws {
        try await onLoop { loop in
            let state = try await Self.state(after: "Basic realm=\"r\"", on: loop)
            let request = try PlayedRequest("challenge { host h; client 127.0.0.1; use a }", state: state, on: loop)
            #expect(Self.known(request) != nil)
            let (context, target) = (request.context, request.context.request.target)
            let latest = try #require(context.challenger.latestAnswer)
            let covers = { (client: ClientIdentity) in
                latest.covers(target.readable, of: { client }, by: context.policy, in: state)
            }
            #expect(covers(context.delegate.client))
            #expect(!covers(ClientIdentity(address: context.delegate.client.address, user: "ann")))
            #expect(!covers(ClientIdentity(address: IPAddress(v4: 0x7F00_0002))))
        }
    }
}

extension PreemptiveAnswer {
    /// Creates the answer of a client without connections that are logged in.
    fileprivate init?(_ source: AnswerSource, to target: ByteBuffer, noting record: ExchangeRecord) {
        self.init(source.find(for: target) { _ in false }, to: source.challenger, noting: record)
    }
}
