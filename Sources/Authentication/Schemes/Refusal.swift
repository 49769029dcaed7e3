/// What a challenge in return for an answer means.
public enum Refusal: Sendable, Hashable {
    /// Nothing was said about the credential (`stale`, a nonce that was replaced meanwhile): answer again. A server
    /// may say so for ever, so the caller counts.
    case retry
    /// The handshake goes on: the next leg is due on the same connection.
    case proceed
    /// The handshake broke off before the credential was judged: the server does not go along, or ends the connection.
    case aborted
    /// The server knows who asks, or could know, and does not let him in. Nothing speaks against the credential: a ticket
    /// is no password, and the next may be taken.
    case denied
    /// The credential was refused.
    case refused
    /// The response does not challenge for the answer's space: one that was sent unasked was never judged, one that was
    /// asked for is as good as refused.
    case unrelated
}
