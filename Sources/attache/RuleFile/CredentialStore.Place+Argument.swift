import Credentials
import Model
import Rules

extension CredentialStore.Place {
    /// Parses a place of a store: a rule file that names the store, or the arguments of `store`.
    ///
    /// - Parameter name: the name of the argument in error messages.
    init(saying text: String, as name: String) throws(CommandError) {
        let isDirective = StoreBackend.allCases.map(\.rawValue).contains { text == $0 || text.hasPrefix($0 + " ") }
        let file =
            isDirective
            ? try RuleFile.read(name, from: ArgumentSource(name: name, text: "store \(text)\n"))
            : try RuleFile.read(text, from: FileSource())
        let configuration = try file.valid()
        if isDirective, let store = configuration.store, case .server(.literal(let info)) = store.location.place,
            Self.showsPassword(info.reveal())
        {
            throw .configuration(
                "every user of this machine can see the password in \(name): write "
                    + "'\(store.location.backend.rawValue) file PATH' or '\(store.location.backend.rawValue) env NAME', or use libpq's password file"
            )
        }
        self = try .known(by: configuration)
    }

    /// Whether the connection string has a password, as a keyword or in a URI (libpq, section Connection Strings).
    private static func showsPassword(_ info: String) -> Bool {
        if info.lowercased().contains("password") { return true }
        guard let start = info.firstRange(of: "://")?.upperBound else { return false }
        let authority = info[start...].prefix { $0 != "/" && $0 != "?" }
        return authority.lastIndex(of: "@").map { authority[..<$0].contains(":") } ?? false
    }
}

/// A directive of the command line or of the environment, read as a rule file that has nothing else.
struct ArgumentSource: SourceReader {
    let name: String
    let text: String
    private let files = FileSource()

    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
        path == name ? Array(text.utf8) : try files.bytes(at: path, limit: limit)
    }

    func environment(_ name: String) -> String? { files.environment(name) }
}

extension ValueSource {
    /// Parses `--OPTION file NAME` or `--OPTION env NAME`.
    ///
    /// - Parameter operand: the number of `NAME` among the operands.
    init(_ arguments: Arguments, option: String, operand: Int) throws(CommandError) {
        guard let kind = arguments.value(of: option), let name = arguments.operand(operand) else {
            throw arguments.error("a key is missing: --\(option) file NAME or --\(option) env NAME")
        }
        switch kind {
        case "file": self = .file(name)
        case "env": self = .environment(name)
        default: throw arguments.error("'--\(option)' is 'file' or 'env'")
        }
    }
}
