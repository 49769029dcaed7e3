/// A secret that stands in the rule file itself. Nothing prints it: not interpolation, not `dump`, not a debugger's
/// reflection. Only `reveal` yields the text.
public struct RedactedText: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    public init(_ text: String) {
        self.text = text
    }

    /// The text itself, for the one place that sends or hashes it.
    public func reveal() -> String { text }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}
