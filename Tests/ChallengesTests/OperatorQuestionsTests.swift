import Authentication
import Bytes
import Credentials
import IO
import Model
import Rules
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Challenges

/// The questions to operators as a whole: how many there may be, and what becomes of the others.
struct OperatorQuestionsTests {
    private static func question(
        _ realm: String, _ delegate: RuleDelegate, at origin: Origin = PlayedRequest.origin
    ) throws -> OperatorQuestion.Subject {
        let space = ProtectionSpace(origin: origin, realm: realm, authenticationMethod: .basic)
        let challenge = AuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
        return try #require(delegate.question(about: challenge, by: delegate.rule(for: challenge)))
    }

    /// Counts, by what a request heard of its question.
    private struct Fates {
        var displaced = 0
        var crowded = 0
        var unanswered = 0
        var answered = 0

        mutating func count(_ outcome: OperatorQuestions.Outcome) {
            switch outcome {
            case .displaced: displaced += 1
            case .crowded: crowded += 1
            case .unanswered: unanswered += 1
            case .answered: answered += 1
            }
        }
    }

    private static func hold(
        _ subjects: [OperatorQuestion.Subject], of delegate: RuleDelegate,
        then act: @escaping @Sendable (OperatorQuestions) async -> Void
    ) async -> Fates {
        let questions = delegate.state.questions
        var fates = Fates()
        await withTaskGroup(of: OperatorQuestions.Outcome.self) { group in
            for (number, subject) in subjects.enumerated() {
                group.addTask { await questions.hold(subject, of: delegate, at: WallTime(milliseconds: number)) }
            }
            await act(questions)
            for await outcome in group { fates.count(outcome) }
        }
        return fates
    }

    @Test func `of a thousand questions the last hundred wait, and the others are cancelled`() async throws {
        let fates = try await onLoop { loop in
            let delegate = try PlayedRequest("challenge \"people\" { host h; ask }", on: loop).context.delegate
            let subjects = try (0..<1000).map { try Self.question("\($0)", delegate) }
            return await Self.hold(subjects, of: delegate) { questions in
                while questions.open.last?.id != 1000 { await Task.yield() }
                #expect(questions.open.map(\.id) == Array(901...1000))
                #expect(questions.figures.open == 100)
                #expect(questions.figures.asked == 1000)
                #expect(questions.figures.unanswered == [.displaced: 900])
                for question in questions.open {
                    #expect(questions.answer(question.id, with: OperatorAnswer(.cancel, persistence: .none)) != nil)
                }
                #expect(questions.figures.answered == [.cancel: 100])
                #expect(questions.figures.open == 0)
            }
        }
        #expect(fates.displaced == 900)
        #expect(fates.answered == 100)
    }

    @Test func `a server that asks for many realms pushes out no question of another server`() async throws {
        let fates = try await onLoop { loop in
            let delegate = try PlayedRequest("challenge \"people\" { ask }", on: loop).context.delegate
            let other = Origin(host: "other", port: 80, protocol: .http)
            let first = try Self.question("first", delegate, at: other)
            let subjects = try [first] + (0..<500).map { try Self.question("\($0)", delegate) }
            return await Self.hold(subjects, of: delegate) { questions in
                while questions.figures.asked != 501 { await Task.yield() }
                #expect(questions.open.contains { $0.space.host == "other" })
                for question in questions.open {
                    _ = questions.answer(question.id, with: OperatorAnswer(.cancel, persistence: .none))
                }
            }
        }
        #expect(fates.displaced == 401 && fates.answered == 100)
    }

    @Test func `a client with questions of many servers pushes out no question of another client`() async throws {
        let isKept = try await onLoop { loop in
            let delegate = try PlayedRequest("challenge \"people\" { ask }", on: loop).context.delegate
            let questions = delegate.state.questions
            let neighbour = RuleDelegate(
                policy: delegate.policy, state: delegate.state,
                client: ClientIdentity(address: IPAddress(v4: 0x7F00_0002)))
            return try await withThrowingTaskGroup(of: Void.self) { group in
                let first = try Self.question("first", neighbour)
                group.addTask { _ = await questions.hold(first, of: neighbour, at: 0) }
                while questions.figures.asked != 1 { await Task.yield() }
                for number in 0..<500 {
                    let origin = Origin(host: "h\(number)", port: 80, protocol: .http)
                    let subject = try Self.question("x", delegate, at: origin)
                    group.addTask { _ = await questions.hold(subject, of: delegate, at: 0) }
                }
                while questions.figures.asked != 501 { await Task.yield() }
                let isKept = questions.open.contains { $0.space.realm == "first" }
                for question in questions.open {
                    _ = questions.answer(question.id, with: OperatorAnswer(.cancel, persistence: .none))
                }
                return isKept
            }
        }
        #expect(isKept)
    }

    @Test func `operators are told of thirty questions at once, and then of one in two seconds`() async throws {
        let told = try await onLoop { loop in
            let delegate = try PlayedRequest("challenge \"people\" { ask }", on: loop).context.delegate
            let questions = delegate.state.questions
            let told = Mutex<[WallTime]>([])
            questions.onQuestion { question in told.withLock { $0.append(question.since) } }
            // Each is given up before the next comes up, as by a client that leaves.
            for number in 0..<300 {
                let subject = try Self.question("\(number)", delegate)
                let task = Task {
                    await questions.hold(subject, of: delegate, at: WallTime(milliseconds: number * 100))
                }
                while questions.figures.asked != number + 1 { await Task.yield() }
                task.cancel()
                _ = await task.value
            }
            return told.withLock { $0 }
        }
        // Thirty seconds have passed.
        #expect(told.count == 45)
        #expect(told.prefix(31) == (0...30).map { WallTime(milliseconds: $0 * 100) }[...])
    }

    @Test func `a hundred requests wait with one question, and the rest are told so`() async throws {
        let fates = try await onLoop { loop in
            let delegate = try PlayedRequest("challenge \"people\" { host h; ask }", on: loop).context.delegate
            let subject = try Self.question("x", delegate)
            return await Self.hold(Array(repeating: subject, count: 300), of: delegate) { questions in
                while questions.open.first?.waiting != 100 { await Task.yield() }
                #expect(questions.answer(1, with: OperatorAnswer(.use("a"), persistence: .session)) != nil)
                #expect(questions.figures.requestsRefused == 200)
            }
        }
        #expect(fates.answered == 100)
        #expect(fates.crowded == 200)
    }
}

extension OperatorQuestions {
    fileprivate func hold(_ subject: OperatorQuestion.Subject, of delegate: RuleDelegate, at now: WallTime) async
        -> Outcome
    {
        await hold(
            subject, of: delegate.client, under: delegate.policy, at: now, naming: delegate.credentials(for:))
    }
}
