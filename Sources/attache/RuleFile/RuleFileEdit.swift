import Bytes
import IO
import Model
import Rules

/// A rule file with lines added to it: checked as a whole before it is written.
struct RuleFileEdit {
    /// Absolute.
    let path: String
    /// The file as it was read; nil for a new one.
    let former: RuleFile?

    /// - Parameter replaces: whether a file that exists is ignored, to be replaced.
    /// - Throws: if the file cannot be read, or has errors.
    init(_ path: String, replacing replaces: Bool = false) throws(CommandError) {
        self.path = path
        former = !replaces && SmallFile.exists(path) ? try RuleFile.read(path) : nil
        _ = try former?.valid()
    }

    /// The configuration without the added lines.
    var configuration: Configuration { former?.configuration ?? Configuration() }

    /// The whole text with lines added.
    func bytes(adding lines: String, before rule: RuleReference?) -> [UInt8] {
        former?.bytes(adding: lines, before: rule) ?? Array(lines.utf8)
    }

    /// Reads a text as if it were the file.
    /// - Throws: the report of its errors.
    func read(_ bytes: [UInt8]) throws(CommandError) -> RuleFile {
        let file = try RuleFile.read(path, from: Draft(path: path, text: bytes))
        _ = try file.valid()
        return file
    }

    /// Throws if the file, or one beside it, cannot be written.
    func requireWritable() throws(CommandError) {
        let folder = Self.folder(of: path)
        do throws(IOError) {
            try DurableFile.makeDirectory(folder)
            try DurableFile.requireWritable(folder)
        } catch { throw .failed("\(error); use --config FILE for another rule file") }
    }

    /// Writes the text, which takes the place of the file at once. Mode and owner of a file that exists stay.
    /// - Throws: if the file has changed since it was read.
    func write(_ bytes: [UInt8]) throws(CommandError) {
        let target = SmallFile.exists(path) ? try WholePath.of(path) : path
        if let former {
            let now = try? SmallFile.read(target, limit: max(former.bytes.count, 1) + 1)
            guard now == former.bytes else {
                throw .failed("\(path) has changed in the meantime, and was not written: run the command again")
            }
        }
        do throws(IOError) {
            if former == nil {
                try DurableFile.write(bytes.span, to: target, mode: 0o600)
            } else {
                try DurableFile.rewrite(bytes.span, at: target)
            }
        } catch { throw .failed("\(error)") }
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// A rule file that is not written yet; other files are those of the machine.
    struct Draft: SourceReader {
        let path: String
        let text: [UInt8]
        private let files = FileSource()

        func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
            guard path == self.path else { return try files.bytes(at: path, limit: limit) }
            if text.count > limit { throw .tooLarge(limit: limit) }
            return text
        }

        var today: Day? { files.today }
        func isFile(_ path: String) -> Bool { files.isFile(path) }
        func exposedMode(of path: String) -> UInt32? { files.exposedMode(of: path) }
        func asciiForm(ofHost name: String) -> String? { files.asciiForm(ofHost: name) }
        func environment(_ name: String) -> String? { files.environment(name) }
    }
}

/// The names of the files of secrets beside the rule file, by the name of the credential.
enum SecretFileName {
    static func password(_ credential: String) -> String { "\(stem(credential)).password" }
    static func token(_ credential: String) -> String { "\(stem(credential)).token" }
    static func clientSecret(_ credential: String) -> String { "\(stem(credential)).secret" }

    /// All names that the file of a credential can have.
    static func all(_ credential: String) -> [String] {
        [password(credential), token(credential), clientSecret(credential)]
    }

    private static func stem(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "_" })
    }
}

/// Writes a value for the rule file.
enum RuleWord {
    /// The text in quotes, except for words that mean themselves without.
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isAlphanumeric || "-_./@+".utf8.contains($0) }
        if isPlain, !text.isEmpty, text != "env", text != "file" { return text }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
