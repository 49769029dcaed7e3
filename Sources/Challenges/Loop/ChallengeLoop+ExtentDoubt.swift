import Authentication
import Bytes
import HTTP

extension ChallengeLoop {
    /// Finds out whether a target belongs to the space whose preemptive answer it got.
    struct ExtentDoubt {
        private let context: ChallengeContext
        /// The space whose answer was refused and then left out.
        private var space: ProtectionSpace?

        init(in context: ChallengeContext) { self.context = context }

        private var target: ByteBuffer { context.request.target }

        /// Whether a response that is not a challenge may concern a preemptive answer, so that the request is sent
        /// again without it. Not for a parent, which sends 403 for many targets, and not if a body would have to be
        /// sent again.
        mutating func isRaised(about answer: Answer?, in task: inout ChallengeTask) -> Bool {
            let (response, challenger) = (context.response, context.challenger)
            let target = target
            guard response.status.mayBeAboutAnswer, !challenger.isProxy, !context.request.hasBody,
                response.challenges(in: challenger.fields.challenge).isEmpty, let answer,
                answer.isUnproven(at: target.readable),
                case .sendUnanswered? = task.doubted()
            else { return false }
            space = answer.space
            return true
        }

        /// Records that the request is sent without that answer.
        mutating func drop(_ answer: Answer?) { space = answer?.space }

        /// Handles a challenge. If it is for other realms, the target does not belong to the answer's space.
        func met(_ challenges: [HeaderChallenge], with answer: Answer?) {
            guard let answer, answer.challenge == nil, let realm = answer.space.realm else { return }
            let realms = challenges.compactMap { $0.text("realm") }
            if realms.isEmpty || realms.contains(realm) { return }
            let target = target
            context.spaces.exclude(target.readable, from: answer.space)
        }

        /// Handles a response that is not a challenge. If the target was served without an answer, it is recorded as needing
        /// none.
        func passed(with answer: Answer?) {
            guard let space, answer == nil, context.response.status.rawValue < 400 else { return }
            let target = target
            context.spaces.exclude(target.readable, from: space)
        }
    }
}

extension Status {
    /// Whether a server may send this status because of an unwanted answer.
    var mayBeAboutAnswer: Bool { self == .badRequest || self == .forbidden }
}
