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
    public var report: String { Diagnostic.Renderer(sources).text(diagnostics) }
}
