/// What the delegate wants done with a challenge.
public enum Disposition: Sendable {
    case useCredential(Credential)
    /// Answer with the proposed credential if it has not failed, else let the client have the response.
    case performDefaultHandling
    /// Go on to the response's next challenge.
    case rejectProtectionSpace
    /// Fail the request, and say why.
    case cancelAuthenticationChallenge
}
