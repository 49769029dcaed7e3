/// Why a PAC file does not say a way.
public enum PACError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Of this machine's making; the text is a sentence.
    case unavailable(String)
    /// The script is none, or throws; the text is its engine's.
    case broken(String)
    case timedOut
    /// Too many questions wait. There is a prospect of room in so many seconds.
    case busy(retryAfter: Int)
    /// The client has left, and nobody was asked.
    case abandoned

    public var description: String {
        switch self {
        case .unavailable(let sentence): sentence
        case .broken(let text): "its script fails (\(text))"
        case .timedOut: "its script does not come to an end"
        case .busy: "its script is asked more than it can answer"
        case .abandoned: "its script was not asked, as the client left"
        }
    }
}
