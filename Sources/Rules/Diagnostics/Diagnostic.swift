/// One thing that is wrong, or doubtful, in a rule file.
public struct Diagnostic: Sendable, Equatable {
    public enum Severity: String, Sendable {
        /// Refuses the start; on a reload the running rules stay.
        case error
        case warning
    }

    public let severity: Severity
    public let range: SourceRange
    /// One lower-case sentence without a period. It never holds a secret's value.
    public let sentence: String
    /// What was probably meant: the text to write in the range's place.
    public let suggestion: String?
}
