/// Why nothing is taken out of another program's file of credentials. The sentence never holds a word of the file that
/// may be part of a password.
public struct CredentialFileProblem: Error, Sendable, Equatable {
    /// From 1; nil when it is about the whole file.
    public let line: Int?
    public let sentence: String

    public init(line: Int?, _ sentence: String) {
        self.line = line
        self.sentence = sentence
    }
}
