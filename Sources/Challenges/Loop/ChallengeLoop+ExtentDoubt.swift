import Authentication
import Bytes
import HTTP

extension ChallengeLoop {
    /// Finds out whether a target belongs to the space whose answer it was given unasked.
    struct ExtentDoubt {
        private let context: ChallengeContext
        /// The space whose answer the request went without, after it had come back with it.
        private var space: ProtectionSpace?

        init(in context: ChallengeContext) { self.context = context }

        private var target: ByteBuffer { context.request.target }

        /// Whether a response that is no challenge may be about an answer that was sent before a challenge, so that the request goes out
        /// once more without it. A parent says 403 of many a target, and a body would have to be sent again.
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

        /// The request goes out without that answer.
        mutating func drop(_ answer: Answer?) { space = answer?.space }

        /// A challenge came back. One for other realms says that the target does not belong to the answer's.
        func met(_ challenges: [HeaderChallenge], with answer: Answer?) {
            guard let answer, answer.challenge == nil, let realm = answer.space.realm else { return }
            let realms = challenges.compactMap { $0.text("realm") }
            if realms.isEmpty || realms.contains(realm) { return }
            let target = target
            context.spaces.exclude(target.readable, from: answer.space)
        }

        /// A response came that is no challenge. One that opens the target without an answer says that it needs none.
        func passed(with answer: Answer?) {
            guard let space, answer == nil, context.response.status.rawValue < 400 else { return }
            let target = target
            context.spaces.exclude(target.readable, from: space)
        }
    }
}

extension Status {
    /// Whether a server that cannot do with an answer may say so by it.
    var mayBeAboutAnswer: Bool { self == .badRequest || self == .forbidden }
}
