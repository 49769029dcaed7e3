/// A rule file that was read: a configuration if it has no error, and everything that is to be said about it.
public struct RuleFile: Sendable {
    /// Nil when there is an error.
    public let configuration: Configuration?
    /// The directory that `state` names, whatever else is wrong: a running proxy is found by it.
    public let state: String?
    /// In the order of the files and places.
    public let diagnostics: [Diagnostic]
    /// The files that were read, for a diagnostic's lines.
    public let sources: SourceMap

    /// Reads a rule file and all that it includes. Throws only when the file itself cannot be read.
    public init(_ path: String, from reader: some SourceReader) throws(SourceError) {
        let log = DiagnosticLog()
        var syntax = SyntaxReader(reader: reader, log: log)
        let nodes = try syntax.read(path)
        var parser = RuleParser(reader: reader, sources: syntax.sources, log: log)
        let configuration = parser.parse(nodes)
        self.configuration = log.hasErrors ? nil : configuration
        state = configuration.state
        diagnostics = log.diagnostics
        sources = syntax.sources
    }

    /// The diagnostics as a person reads them; empty when there are none.
    public var report: String { DiagnosticRenderer(sources).text(diagnostics) }
}
