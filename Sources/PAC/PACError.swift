/// Why a PAC file does not say a way.
public enum PACError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Of this machine's making; the text is a sentence.
    case unavailable(String)
    /// The script is none, or throws; the text is its engine's.
    case broken(String)
    case timedOut

    public var description: String {
        switch self {
        case .unavailable(let sentence): sentence
        case .broken(let text): "its script fails (\(text))"
        case .timedOut: "its script does not come to an end"
        }
    }
}
