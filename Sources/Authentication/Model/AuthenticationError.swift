import Crypto
import Model

/// Why a challenge cannot be answered. The first five are the configuration's fault, the next two the peer's.
public enum AuthenticationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// RFC 7617 section 2: the server would read another, shorter user name.
    case userContainsColon(credential: String)
    case controlCharacter(credential: String)
    case empty(credential: String)
    /// The value is longer than servers take one, in that place.
    case oversized(credential: String)
    /// The credential is of a kind that the method has no use for.
    case unsuitableCredential(credential: String, method: AuthenticationMethod)
    case unusableChallenge(method: AuthenticationMethod)
    /// A nonce was used 2³² − 1 times: a new challenge is needed.
    case nonceExhausted
    /// The challenge wants the body's digest (`auth-int`) and none was given.
    case bodyDigestNeeded
    case noRandomness
    /// A library function that the method needs is missing on this machine.
    case unavailable(method: AuthenticationMethod, CryptoError)
    /// There is no ticket to log in with.
    case noTicket(credential: String, service: String, TicketError)
    /// The server looked at the time, and no further.
    case clockSkew(credential: String, service: String)

    public var description: String {
        switch self {
        case .userContainsColon(let credential):
            "credential \(credential) has a colon in its user name, which basic authentication cannot carry"
        case .controlCharacter(let credential):
            "credential \(credential) has a character that cannot be sent"
        case .empty(let credential): "credential \(credential) is empty"
        case .oversized(let credential): "credential \(credential) is too long for its place in requests"
        case .unsuitableCredential(let credential, let method):
            "credential \(credential) is of a kind that \(method.rawValue) authentication cannot use"
                + (method == .bearer
                    ? "; if the server accepts Basic too, write 'method basic' and 'preempt always' in the rule" : "")
        case .unusableChallenge(let method): "the \(method.rawValue) challenge cannot be answered"
        case .nonceExhausted: "the nonce was used too often"
        case .bodyDigestNeeded: "the challenge requires the digest of the whole body"
        case .noRandomness: "the system gave no random bytes"
        case .unavailable(let method, let error): "\(method.rawValue) authentication cannot work: \(error)"
        case .noTicket(let credential, let service, let error):
            "credential \(credential) has no ticket for \(service): \(error)"
        case .clockSkew(let credential, let service):
            "credential \(credential) cannot log in to \(service): the clocks of the server and of this machine differ by more "
                + "than Kerberos allows (5 minutes)"
        }
    }

    /// The refusal it counts as, where the challenge's other schemes may do better; nil: the request ends with it.
    public var refusal: RepeatedChallenge? {
        guard case .noTicket(_, _, let error) = self else { return nil }
        if case .refused = error { return .refused }
        return .aborted
    }
}

/// The meaning of a challenge in return for an answer.
public enum RepeatedChallenge: Sendable, Hashable {
    /// Nothing was said about the credential (`stale`, a nonce that was replaced meanwhile): answer again. A server
    /// may say so for ever, so the caller counts.
    case retry
    /// Nothing was said about the credential, and the server has another nonce: it is answered as if none had been.
    case renewed
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
