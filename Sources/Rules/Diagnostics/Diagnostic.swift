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
    /// The text that was probably meant in the range's place.
    public let suggestion: String?
}

/// Collects what one reading of a rule file finds. Every error and warning passes `report`.
final class DiagnosticLog {
    /// A megabyte of nonsense need not become a megabyte of errors.
    static let limit = 500

    private var found: [Diagnostic] = []
    private(set) var hasErrors = false

    /// Nothing more will be shown, so nothing more need be looked for.
    var isFull: Bool { found.count > Self.limit }

    func report(
        _ severity: Diagnostic.Severity = .error, at range: SourceRange, _ sentence: String, suggestion: String? = nil
    ) {
        if severity == .error { hasErrors = true }
        guard !isFull else { return }
        let isLast = found.count == Self.limit
        found.append(
            Diagnostic(
                severity: severity, range: range,
                sentence: isLast ? "too many errors; those after this line are not shown" : sentence,
                suggestion: isLast ? nil : suggestion))
    }

    /// All that was found, in the order of the files and, within a file, of the places.
    var diagnostics: [Diagnostic] {
        found.enumerated().sorted { left, right in
            let (a, b) = (left.element.range, right.element.range)
            return (a.file, a.bytes.lowerBound, left.offset) < (b.file, b.bytes.lowerBound, right.offset)
        }.map(\.element)
    }
}
