import Bytes
import Model

extension ChallengeTask {
    /// The reason why a challenge is passed to the client unchanged.
    public enum PassReason: Sendable, Equatable, CustomStringConvertible {
        /// The response had no challenge that a supported scheme can answer.
        case nothingToAnswer
        /// Every challenge was rejected; the reason is the last one's.
        case rejected(reason: String)
        case defaultHandling(reason: String)
        /// The rule's number of attempts was refused.
        case attemptsUsed(reason: String)
        /// The delegate's credential was already refused in this request.
        case alreadyRefused(credential: String)
        /// The credential was refused before, and this version is not sent for some time.
        ///
        /// - Parameter pause: the time until the next try; nil: the version is not sent before its value is set again.
        case parked(credential: String, pause: Milliseconds? = nil)
        /// This unproven version was sent by another request, whose verdict is pending.
        case undecided(credential: String)
        case unanswerable(AuthenticationError)
        /// The server did not complete the handshake of this method, and offered no other usable one.
        case aborted(AuthenticationMethod)
        /// The server denied the login by this method, and offered no other usable one.
        case denied(AuthenticationMethod)
        /// The rule has `mode report`, and would have answered so.
        case reported(answer: String, reason: String)
        /// The server calls every nonce stale, or never ends its handshake or its challenges.
        case endless

        public var description: String {
            switch self {
            case .nothingToAnswer: "no challenge that can be answered"
            case .rejected(let reason): "every challenge was rejected (\(reason))"
            case .defaultHandling(let reason): "no credential to use (\(reason))"
            case .attemptsUsed(let reason): "the credential was refused (\(reason))"
            case .alreadyRefused(let credential): "credential \(credential) was refused"
            case .parked(let credential, nil):
                "credential \(credential) was refused before and is on hold until you set its value again"
            case .parked(let credential, let pause?):
                "credential \(credential) was refused before and is on hold: the next try is in \(Self.words(pause))"
            case .undecided(let credential):
                "credential \(credential) was sent with another request, which the server has not answered yet"
            case .unanswerable(let error): error.description
            case .aborted(.htmlForm): "the server asks for the login again right behind it"
            case .aborted(let method): "the server stopped the \(method.rawValue) handshake"
            case .denied(let method): "the server did not accept the \(method.rawValue) login"
            case .reported(let answer, let reason): "\(reason) has 'mode report': it would have answered '\(answer)'"
            case .endless: "the server keeps asking for a login"
            }
        }

        /// A duration for people.
        public static func words(_ time: Milliseconds) -> String {
            let seconds = max(1, (time + 999).seconds)
            return seconds < 120 ? "\(seconds) seconds" : "\((seconds + 59) / 60) minutes"
        }
    }
}
