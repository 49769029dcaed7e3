import Challenges
import Model

/// The result of an addition to the rule file, or of storing an exception for a key; each is a sentence.
public enum DeskAnswer: Sendable, Equatable {
    case done(String)
    case refused(String)
}

/// The lines that a journal entry suggests for the rule file.
public struct SuggestedLines: Sendable, Equatable {
    /// The input that a person has to give with the lines.
    public enum Need: String, Sendable {
        case nothing
        /// A user and a password.
        case password
        case token
    }

    /// The placeholders of `SuggestedChallengeRule`.
    static let password = "user NAME; password file /path/to/password"
    static let token = "token file /path/to/token"

    /// The lines with their placeholders, without the comment about their place.
    public let text: String
    public let need: Need
    /// The rule that they have to stand before; nil: they go to the end.
    public let precedes: RuleReference?
    /// The name of the credential that they make; nil: none.
    public let credential: String?

    /// Nil if the entry is no longer open, or if its lines have something that only a person at the file can fill in.
    public init?(_ entry: JournalEntry) {
        guard entry.isOpen, let suggestion = entry.suggestion else { return nil }
        let lines = suggestion.split(separator: "\n").filter { !$0.hasPrefix("# before rule") }
        text = lines.map { $0 + "\n" }.joined()
        need = text.contains(Self.password) ? .password : text.contains(Self.token) ? .token : .nothing
        if text.contains("…") || need == .nothing && text.contains("/path/to/") { return nil }
        precedes = entry.precedes
        credential = entry.suggestedNames.credentials.first
        if need != .nothing, credential == nil { return nil }
    }

    /// The lines with a user and a file in the place of the placeholders, as words of the rule file.
    public func text(user: String, file: String) -> String {
        text.replacing(Self.password, with: "user \(user); password file \(file)")
            .replacing(Self.token, with: "token file \(file)")
    }
}
