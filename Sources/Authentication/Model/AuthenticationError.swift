import Crypto
import Model

/// The reason why a challenge cannot be answered. The first five are the configuration's fault, the next two the
/// peer's.
public enum AuthenticationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// RFC 7617 section 2: the server would read a shorter user name.
    case userContainsColon(credential: String)
    case controlCharacter(credential: String)
    case empty(credential: String)
    /// The value is longer than servers accept in that place.
    case oversized(credential: String)
    /// The method cannot use this kind of credential.
    case unsuitableCredential(credential: String, method: AuthenticationMethod)
    case unusableChallenge(method: AuthenticationMethod)
    /// A nonce was used 2³² − 1 times: a new challenge is needed.
    case nonceExhausted
    /// The challenge requires the body's digest (`auth-int`), which is not known.
    case bodyDigestNeeded
    case noRandomness
    /// This machine lacks a library function that the method needs.
    case unavailable(method: AuthenticationMethod, CryptoError)
    /// There is no ticket for the login.
    case noTicket(credential: String, service: String, TicketError)
    /// The program that makes the answers has made none; the text is a sentence about it.
    case notGiven(String)
    /// The server refused the ticket because of its time and did not check further.
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
        case .bodyDigestNeeded:
            "the challenge requires the digest of the whole body, which is larger than this proxy keeps "
                + "(limits replay-memory and replay-disk)"
        case .noRandomness: "the system gave no random bytes"
        case .unavailable(let method, let error): "\(method.rawValue) authentication cannot work: \(error)"
        case .noTicket(let credential, let service, let error):
            "credential \(credential) has no ticket for \(service): \(error)"
        case .notGiven(let sentence): sentence
        case .clockSkew(let credential, let service):
            "credential \(credential) cannot log in to \(service): the clocks of the server and of this machine differ by more "
                + "than Kerberos allows (5 minutes)"
        }
    }

    /// The kind of refusal that the error counts as if the challenge's other schemes may be tried; nil: the request
    /// ends.
    public var refusal: RepeatedChallenge? {
        guard case .noTicket(_, _, let error) = self else { return nil }
        return error.isRefusal ? .refused : .aborted
    }

    /// Whether the same request may succeed later, though nothing is changed: no KDC could be asked.
    public var isTransient: Bool {
        switch self {
        case .noTicket(_, _, .unavailable), .noTicket(_, _, .undecided): true
        default: false
        }
    }
}

/// The meaning of a challenge that follows an answer.
public enum RepeatedChallenge: Sendable, Hashable {
    /// The credential was not judged (`stale`, or a nonce that was replaced meanwhile): answer again. The caller limits
    /// the number, since a server may repeat this for ever.
    case retry
    /// The credential was not judged, and the server sent another nonce: answer as for the first time.
    case renewed
    /// The handshake continues: send the next message on this connection.
    case proceed
    /// The handshake ended before the credential was judged: the server does not continue, or closes the connection.
    case aborted
    /// The server knows the user, or could know, and denies access. The credential was not refused: a ticket is no
    /// password, and the next may be accepted.
    case denied
    /// The credential was refused.
    case refused
    /// The response does not challenge for the answer's space. An answer that was sent preemptively was not judged. An
    /// answer to a challenge counts as refused.
    case unrelated
}
