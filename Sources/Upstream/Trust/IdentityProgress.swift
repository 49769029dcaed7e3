import Authentication
import Challenges
import TLS

/// How far one request has come with a server's requests for a certificate, over all its connections to that server.
public struct IdentityProgress {
    /// Why none is shown.
    enum End {
        case declined(PassReason)
        /// A rule wants no connection to a server that asks.
        case cancelled(reason: String)
    }

    struct Refused {
        let version: CredentialVersion
        /// The server's words: the name of an alert, or the status and words of a page.
        let words: String
    }

    var task = ChallengeTask()
    /// Nil: one was shown, or none was asked for.
    var end: End?
    /// That a rule wants an operator to answer.
    var question: QuestionSubject?
    /// The operator's answer to that, for this request.
    var word: OperatorAnswer.Act?
    /// Whether an operator rejected the server's request.
    var isRejectedByOperator = false
    /// The certificates that the server has refused, in this order.
    var refusals: [Refused] = []
    /// The page by which the server refused the latest of them; nil: it refused it by an alert of TLS.
    var response: ResponseExcerpt?

    public init() {}
}
