import DNS
import Glibc
import IO
import Model
import Rules

/// The rule file that a command uses: the one of `--config`, else of `ATTACHE_CONFIG`, else the first of the usual ones that
/// exists. All paths are absolute.
enum RuleFilePath {
    /// The user's own file (XDG Base Directory Specification); nil for a user without a home.
    static var ofUser: String? {
        StatePath.directory("XDG_CONFIG_HOME", below: ".config").map { "\($0)/proxy.conf" }
    }

    private static let here = "./proxy.conf"
    private static let ofSystem = "/etc/attache/proxy.conf"

    /// The rule file to read.
    ///
    /// - Parameter named: the value of `--config`.
    static func choose(_ named: String?) throws(CommandError) -> String {
        if let path = find(named) { return path }
        let usual = [here, ofUser, ofSystem].compactMap(\.self)
        throw .configuration(
            "there is no rule file: none of \(usual.joined(separator: ", ")) exists; run 'attache init URL' to make one"
        )
    }

    /// The rule file to read; nil if no file exists.
    static func find(_ named: String?) -> String? {
        if let named = named ?? Environment.text(of: "ATTACHE_CONFIG") { return WholePath.lexical(named) }
        return [here, ofUser, ofSystem].compactMap(\.self).first { exists($0) }.map { WholePath.lexical($0) }
    }

    /// The rule file that `attache init` writes: the one that is in use, or a new one of the user's own.
    static func toWrite(_ named: String?) -> String {
        find(named) ?? WholePath.lexical(ofUser ?? here)
    }

    private static func exists(_ path: String) -> Bool {
        do throws(SourceError) {
            _ = try FileSource().bytes(at: path, limit: 0)
            return true
        } catch { return error != .notFound }
    }
}

extension CommandOption {
    /// `--config`, of every command that reads the rule file.
    static let config = CommandOption(
        name: "config", value: "FILE",
        summary: [
            "the rule file; default: ATTACHE_CONFIG, else the first of",
            "./proxy.conf, ~/.config/attache/proxy.conf and",
            "/etc/attache/proxy.conf",
        ])
}

extension RuleFile {
    /// Reads a rule file of this machine.
    static func read(_ path: String) throws(CommandError) -> RuleFile { try read(path, from: FileSource()) }

    static func read(_ path: String, from source: some SourceReader) throws(CommandError) -> RuleFile {
        do throws(SourceError) {
            return try RuleFile(path, from: source)
        } catch { throw .configuration("cannot read the rule file \(path): \(error)") }
    }

    /// The configuration, with `ATTACHE_LISTEN` and `ATTACHE_LOG` in the place of `listen` and `log`.
    /// - Throws: the report, if the file or one of the variables has errors.
    func valid() throws(CommandError) -> Configuration {
        guard var configuration else { throw .rules(report: report) }
        if let listen = Environment.text(of: "ATTACHE_LISTEN") {
            let lines = listen.split(whereSeparator: \.isWhitespace).map { "listen \($0)\n" }
            configuration.listeners = try Self.directives(lines.joined(), of: "ATTACHE_LISTEN").listeners
        }
        if let log = Environment.text(of: "ATTACHE_LOG") {
            configuration.log = try Self.directives("log \(log)\n", of: "ATTACHE_LOG").log
        }
        return configuration
    }

    private static func directives(_ text: String, of name: String) throws(CommandError) -> Configuration {
        let file = try RuleFile.read(name, from: ArgumentSource(name: name, text: text))
        guard let configuration = file.configuration else { throw .rules(report: file.report) }
        return configuration
    }
}

/// Provides the machine's files and environment for the rule file.
struct FileSource: SourceReader {
    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
        do throws(FileError) {
            return try SmallFile.read(path, limit: limit)
        } catch {
            switch error {
            case .tooLarge: throw .tooLarge(limit: limit)
            case .system(errno: ENOENT): throw .notFound
            case .system(let errno): throw .unreadable(IOError.sentence(for: errno))
            }
        }
    }

    var today: Day? { Day(of: SystemClock.wallTime) }

    func isFile(_ path: String) -> Bool { SmallFile.isRegular(path) }

    func exposedMode(of path: String) -> UInt32? { SmallFile.exposedMode(of: path) }

    func asciiForm(ofHost name: String) -> String? { InternationalName.asciiForm(of: name) }

    func environment(_ name: String) -> String? { Environment.value(of: name) }
}
