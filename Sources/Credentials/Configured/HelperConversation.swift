import Authentication
import Synchronization

/// The rest of a login that takes several answers of one helper.
final class HelperConversation: GivenAnswer.Next {
    private let question: HelperQuestion
    private let credentials: ConfiguredCredentials
    private let state: Mutex<HelperOutput.Answer>

    init(after answer: HelperOutput.Answer, _ question: HelperQuestion, of credentials: ConfiguredCredentials) {
        self.question = question
        self.credentials = credentials
        state = Mutex(answer)
    }

    /// The latest answer of the helper.
    var latest: HelperOutput.Answer { state.withLock { $0 } }

    func answer(to challenges: [HeaderChallenge]) async throws(AuthenticationError) -> GivenAnswer {
        let next = HelperQuestion(
            name: question.name, origin: question.origin, path: question.path, challenges: challenges.map { "\($0)" },
            notes: latest.notes, isStep: true, refused: nil)
        switch await credentials.next(next) {
        case .success(let answer):
            state.withLock { $0 = answer }
            guard let given = answer.givenAnswer({ self }) else {
                throw .notGiven("credential \(question.name): its helper changed to another kind of answer")
            }
            return given
        case .failure(let error): throw .notGiven("\(error)")
        }
    }
}
