import Forwarding
import Rules

/// The response that a server gives to the request itself, without a credential.
struct ExplainedAnswer {
    /// Nil: it does not challenge.
    let challenges: ExplainedChallenges?
    /// What came back, for the explanation.
    let words: String

    /// Sends the request. Blocks.
    static func fetch(
        for request: ExplainedRequest, by configuration: Configuration
    ) throws(CommandError) -> ExplainedAnswer {
        ExplainedAnswer(try ServerProbe.response(to: request, by: configuration))
    }

    private init(_ response: ChallengeProbe.Response) {
        let giver = response.isOfParent ? "the parent" : "the origin"
        let isChallenge = response.status == (response.isOfParent ? 407 : 401)
        let hasLines = isChallenge && !response.lines.isEmpty
        challenges =
            hasLines ? ExplainedChallenges(values: response.lines, isOfParent: response.isOfParent) : nil
        if hasLines {
            words = "\(giver) answers \(response.status): \(response.lines.joined(separator: ", "))"
        } else {
            words = "\(giver) answers \(response.status), without a challenge"
        }
    }
}
