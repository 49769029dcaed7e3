import Rules

extension RuleFile {
    /// Reads a rule file of this machine.
    static func read(_ path: String) throws(CommandError) -> RuleFile { try read(path, from: FileSource()) }

    static func read(_ path: String, from source: some SourceReader) throws(CommandError) -> RuleFile {
        do throws(SourceError) {
            return try RuleFile(path, from: source)
        } catch { throw .configuration("cannot read the rule file \(path): \(error)") }
    }

    /// What it says; throws the report when it has errors.
    func valid() throws(CommandError) -> Configuration {
        guard let configuration else { throw .rules(report: report) }
        return configuration
    }
}
