/// The manual's words about one directive.
struct DirectiveManual: Sendable {
    /// The form of its arguments, such as `SIZE`; empty: it has none.
    let values: String
    /// The arguments that count where it is not said; nil: there is nothing to count.
    let standard: String?
    /// Paragraphs, as `ManualTopic.text`.
    let text: String
    /// Lines of a rule file in which it stands.
    let example: String

    init(_ values: String, default standard: String? = nil, example: String, _ text: String) {
        self.values = values
        self.standard = standard
        self.text = text
        self.example = example
    }
}
