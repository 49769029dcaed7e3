/// Why there is no token. The sentences name no secret, and go on behind "credential NAME has no token: ".
public enum TokenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The endpoint refused the grant or the client: the same will be refused again.
    case refused(endpoint: String, code: String, words: String?)
    /// The endpoint is in trouble, or says what is no answer (RFC 6749 section 5).
    case status(endpoint: String, Int)
    case malformed(endpoint: String, String)
    /// No connection, no trust, or no answer in time.
    case unreachable(endpoint: String, String)
    case unusableKey
    case noRandomness

    /// Whether another try with the same values can come out otherwise.
    public var isPassing: Bool {
        switch self {
        case .refused, .unusableKey: false
        case .status, .malformed, .unreachable, .noRandomness: true
        }
    }

    public var description: String {
        switch self {
        case .refused(let endpoint, let code, let words):
            "\(endpoint) refused it (\(code)\(words.map { ": \($0)" } ?? ""))"
        case .status(let endpoint, let status): "\(endpoint) answered with status \(status)"
        case .malformed(let endpoint, let what): "the answer of \(endpoint) \(what)"
        case .unreachable(let endpoint, let why): "\(endpoint) cannot be asked: \(why)"
        case .unusableKey: "its key cannot sign"
        case .noRandomness: "the system gave no random bytes"
        }
    }
}
