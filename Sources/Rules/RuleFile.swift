import Bytes
import Model

/// A rule file that was read: its configuration if there is no error, and all problems that were found.
public struct RuleFile: Sendable {
    /// The configuration; nil if there is an error.
    public let configuration: Configuration?
    /// The directory that `state` names, even if there are errors: a running proxy is found by it.
    public let state: String?
    /// The problems, in the order of the files and positions.
    public let diagnostics: [Diagnostic]
    /// The files that were read, for the lines of a diagnostic.
    public let sources: SourceMap

    /// Reads a rule file and its includes. Throws only if the file itself cannot be read.
    public init(_ path: String, from reader: some SourceReader) throws(SourceError) {
        let log = Diagnostic.Log()
        var syntax = SyntaxReader(reader: reader, log: log)
        let nodes = try syntax.read(path)
        var parser = RuleParser(reader: reader, sources: syntax.sources, log: log)
        let configuration = parser.parse(nodes)
        self.configuration = log.hasErrors ? nil : configuration
        state = configuration.state
        diagnostics = log.diagnostics
        sources = syntax.sources
    }

    /// The diagnostics for people; empty if none.
    public var report: String { Diagnostic.Renderer(sources: sources).text(diagnostics) }

    // MARK: - Adding lines, with everything else as it was

    /// The bytes of the file itself, without the files that it includes.
    public var bytes: [UInt8] { sources.file(0)?.bytes ?? [] }

    /// The bytes of the file with lines added.
    ///
    /// - Parameters:
    ///   - lines: whole lines, the last one with a line feed.
    ///   - rule: the rule in front of which they are to stand, and in front of the comment above it; for a rule of an
    ///     included file, in front of the `include`. Nil: at the end.
    public func bytes(adding lines: String, before rule: RuleReference?) -> [UInt8] {
        guard let rule, let offset = offset(of: rule) else {
            let gap = bytes.isEmpty ? "" : bytes.last == .lineFeed ? "\n" : "\n\n"
            return bytes + Array("\(gap)\(lines)".utf8)
        }
        return bytes[..<offset] + Array("\(lines)\n".utf8) + bytes[offset...]
    }

    /// Whether the first rule stands before the second one in the text that all files make together. Nil: one is unknown.
    public func isInFront(_ first: RuleReference, of second: RuleReference) -> Bool? {
        guard let one = offset(of: first), let other = offset(of: second) else { return nil }
        return one <= other
    }

    /// The offset of the line of a rule in the file itself, or of the comment directly above it; nil for an unknown rule.
    private func offset(of rule: RuleReference) -> Int? {
        guard var file = sources.files.first(where: { $0.path == rule.file }) else { return nil }
        var start = file.start(ofLine: rule.line)
        while let place = file.includedFrom, let outer = sources.file(place.file) {
            file = outer
            start = file.start(ofLine: file.line(of: place.bytes.lowerBound))
        }
        while start > 0 {
            let above = file.line(around: start - 1)
            guard file.bytes[above].first(where: { $0 != .space && $0 != .tab }) == UInt8(ascii: "#") else { break }
            start = above.lowerBound
        }
        return start
    }
}
