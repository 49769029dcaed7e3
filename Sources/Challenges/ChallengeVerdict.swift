/// The decision about a response, by one who may have asked for a credential.
public enum ChallengeVerdict {
    /// The client gets it; with a word in `Proxy-Status` where the challenge was ours to answer and was not, or where
    /// the origin's proof could not be checked.
    case pass(note: String?)
    /// The request goes out again, with the answer that `authorize` appends.
    case again
    /// Apart from the others in memory, since verdicts are handed on several times for each request.
    indirect case cancel(ChallengeFailure)
}
