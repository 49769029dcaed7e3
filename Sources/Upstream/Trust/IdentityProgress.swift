import Authentication
import Challenges
import TLS

/// The progress of one request with a server's requests for a certificate, over all its connections to that server.
struct IdentityProgress {
    /// The reason why no certificate is shown.
    enum End {
        case declined(ChallengeTask.PassReason)
        /// A rule forbids connections to a server that asks.
        case cancelled(reason: String)
    }

    struct Refused {
        let version: CredentialVersion
        /// The server's reason: the name of an alert, or the status and text of a page.
        let words: String
    }

    var task = ChallengeTask()
    /// Nil: a certificate was shown, or the server asked for none.
    var end: End?
    /// The question for an operator, if a rule asks one.
    var question: OperatorQuestion.Subject?
    /// The operator's answer to the question, for this request.
    var word: OperatorAnswer.Act?
    /// Whether an operator rejected the server's request.
    var isRejectedByOperator = false
    /// The certificates that the server has refused, in this order.
    var refusals: [Refused] = []
    /// The page by which the server refused the latest certificate; nil: it sent a TLS alert.
    var response: ResponseExcerpt?
}
