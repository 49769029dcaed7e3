import Bytes
import Glibc
import IO

/// The process's environment, as it was at the start.
enum Environment {
    static func value(of name: String) -> String? { all[name] }

    /// The value of a variable; nil if it is not set, or empty.
    static func text(of name: String) -> String? { all[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The host name of this machine; in a container, that of the container.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    static let all: [String: String] = {
        var all: [String: String] = [:]
        var place = unsafe environ
        while let entry = unsafe place.pointee {
            let text = unsafe String(cString: entry)
            if let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
                // If a name occurs twice, the first counts, as for getenv.
                let name = String(text[..<equals])
                all[name] = all[name] ?? String(text[text.utf8.index(after: equals)...])
            }
            unsafe place += 1
        }
        return all
    }()
}

/// The directory for data that outlives a run.
enum StatePath {
    /// The path in `state`, else `$XDG_STATE_HOME/attache`, else `~/.local/state/attache` (XDG Base Directory
    /// Specification: a relative path is ignored). Nil for a user without a home, as in many containers.
    static func find(_ said: String?) -> String? { said ?? directory("XDG_STATE_HOME", below: ".local/state") }

    /// The program's directory below a base directory of the user (XDG Base Directory Specification).
    ///
    /// - Parameters:
    ///   - variable: the variable that names the base directory.
    ///   - usual: the base directory without the variable, relative to the home.
    static func directory(_ variable: String, below usual: String) -> String? {
        if let base = absolute(Environment.value(of: variable)) { return "\(base)/attache" }
        return absolute(Environment.value(of: "HOME")).map { "\($0)/\(usual)/attache" }
    }

    /// - Parameter what: the things that were to be stored.
    static func unknown(for what: String) -> String {
        "there is no directory for \(what), because this user has no home: write one in the rule file, such as: "
            + "state /var/lib/attache"
    }

    /// The reason why the directory is not used: another user of this machine could put a socket or a key into it.
    ///
    /// - Parameter said: the path in `state`.
    static func danger(_ said: String?) -> String? {
        guard let path = find(said), DurableFile.isOpenToOthers(path) else { return nil }
        return "other users can write to the state directory \(path), and could pose as this proxy: run "
            + "'chmod o-w \(ShellWord.quoted(path))', or name a directory below it, which is created with mode 700"
    }

    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/"), path != "/" else { return nil }
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}
