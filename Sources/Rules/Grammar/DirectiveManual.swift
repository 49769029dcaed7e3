/// The manual's text about one directive.
struct DirectiveManual: Sendable {
    /// The form of its arguments, such as `SIZE`; empty for none.
    let values: String
    /// The default arguments; nil if there is no default.
    let standard: String?
    /// Paragraphs in the format of `ManualTopic.text`.
    let text: String
    /// Lines of a rule file that use the directive.
    let example: String

    init(_ values: String, default standard: String? = nil, example: String, _ text: String) {
        self.values = values
        self.standard = standard
        self.text = text
        self.example = example
    }
}
