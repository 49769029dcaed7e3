import DNS
import Glibc
import IO
import Model
import Rules

/// Where the rule file is when the command line does not say.
enum RuleFilePath {
    private static let usual = ["./proxy.conf", "/etc/attache/proxy.conf"]

    /// The path that was said, else the first usual one where there is something, readable or not.
    static func choose(_ said: String?) throws(CommandError) -> String {
        if let path = find(said) { return path }
        throw .configuration(
            "there is no rule file: neither \(usual.joined(separator: " nor ")) exists; run 'attache init URL' to make one"
        )
    }

    /// The path that was said, else the first usual one where there is something, else nil.
    static func find(_ said: String?) -> String? { said ?? usual.first { exists($0) } }

    private static func exists(_ path: String) -> Bool {
        do throws(SourceError) {
            _ = try FileSource().bytes(at: path, limit: 0)
            return true
        } catch { return error != .notFound }
    }
}

extension RuleFile {
    /// Reads a rule file of this machine.
    static func read(_ path: String) throws(CommandError) -> RuleFile { try read(path, from: FileSource()) }

    static func read(_ path: String, from source: some SourceReader) throws(CommandError) -> RuleFile {
        do throws(SourceError) {
            return try RuleFile(path, from: source)
        } catch { throw .configuration("cannot read the rule file \(path): \(error)") }
    }

    /// The configuration; throws the report when it has errors.
    func valid() throws(CommandError) -> Configuration {
        guard let configuration else { throw .rules(report: report) }
        return configuration
    }
}

/// The machine's files and environment, for the rule file.
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

    var today: Day? { Day(epochSeconds: SystemClock.epochMilliseconds / 1000) }

    func isFile(_ path: String) -> Bool { SmallFile.isRegular(path) }

    func exposedMode(of path: String) -> UInt32? { SmallFile.exposedMode(of: path) }

    func asciiForm(ofHost name: String) -> String? { InternationalName.asciiForm(of: name) }

    func environment(_ name: String) -> String? {
        Environment.value(of: name)
    }
}
