import Model
import Rules
import Testing

/// A file system and an environment as a test wants them.
struct PlayedReader: SourceReader {
    var files: [String: [UInt8]] = [:]
    var variables: [String: String] = [:]
    /// The modes of files that everyone can read.
    var modes: [String: UInt32] = [:]

    init(_ files: [String: String] = [:], variables: [String: String] = [:]) {
        self.files = files.mapValues { Array($0.utf8) }
        self.variables = variables
    }

    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
        guard let bytes = files[path] else { throw .notFound }
        guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
        return bytes
    }

    /// 21 November 2026.
    var today: Day? { Day(number: 20_778) }

    func isFile(_ path: String) -> Bool { files[path] != nil }

    func exposedMode(of path: String) -> UInt32? { modes[path] }

    func asciiForm(ofHost name: String) -> String? { name == "bücher.example" ? "xn--bcher-kva.example" : nil }

    func environment(_ name: String) -> String? { variables[name] }
}

/// The rules of a text that must have no error.
func rules(_ text: String) throws -> RuleSet {
    let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": text]))
    return RuleSet(try #require(file.configuration, Comment(rawValue: file.report)))
}

/// Returns the report about a text.
func report(_ text: String) throws -> String {
    try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": text])).report
}
