/// A problem in a rule file: an error or a warning.
public struct Diagnostic: Sendable, Equatable {
    public enum Severity: String, Sendable {
        /// An error refuses the start; on a reload the running rules stay.
        case error
        case warning
    }

    public let severity: Severity
    public let range: SourceRange
    /// A lower-case sentence without a period. It never contains a secret's value.
    public let sentence: String
    /// The text that was probably meant in the place of the range.
    public let suggestion: String?

    /// Collects the problems that one reading of a rule file finds. Every error and warning passes `report`.
    final class Log {
        /// The limit of problems, so that a megabyte of nonsense makes no megabyte of errors.
        static let limit = 500

        private var found: [Diagnostic] = []
        private(set) var hasErrors = false

        /// Whether no more problems will be shown, so that none need be searched for.
        var isFull: Bool { found.count > Self.limit }

        func report(
            _ severity: Diagnostic.Severity = .error, at range: SourceRange, _ sentence: String,
            suggestion: String? = nil
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

        /// The problems, in the order of the files and, within a file, of their position.
        var diagnostics: [Diagnostic] {
            found.enumerated().sorted { left, right in
                let (a, b) = (left.element.range, right.element.range)
                return (a.file, a.bytes.lowerBound, left.offset) < (b.file, b.bytes.lowerBound, right.offset)
            }.map(\.element)
        }
    }
}
