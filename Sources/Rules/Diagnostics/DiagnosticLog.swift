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

    /// What was found, in the order of the files and, within a file, of the places.
    var diagnostics: [Diagnostic] {
        found.enumerated().sorted { left, right in
            let (a, b) = (left.element.range, right.element.range)
            return (a.file, a.bytes.lowerBound, left.offset) < (b.file, b.bytes.lowerBound, right.offset)
        }.map(\.element)
    }
}
