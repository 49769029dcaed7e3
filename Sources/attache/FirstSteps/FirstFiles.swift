import Crypto
import IO

/// The rule file and the secret beside it.
struct FirstFiles {
    /// As it was said, or the usual one.
    let rules: String
    let secret: String
    /// Whether they may take the place of others.
    let replaces: Bool

    /// - Parameters:
    ///   - host: whose secret it is.
    ///   - noun: of the secret: a word.
    init(rules: String, host: String, noun: String, replaces: Bool) {
        self.rules = rules
        self.replaces = replaces
        let folder = rules.lastIndex(of: "/").map { String(rules[...$0]) } ?? ""
        let name = String(host.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "_" })
        secret = "\(folder)\(name).\(noun)"
    }

    /// As the rule file names it, whose directory it is in.
    var secretName: String { String(secret.split(separator: "/").last ?? "") }

    /// Throws where a file is there already. To be asked before anything else is.
    func requireFree() throws(CommandError) {
        guard !replaces, let taken = [rules, secret].first(where: SmallFile.exists) else { return }
        throw .failed(
            "\(taken) exists already: use --force to replace it, or --config FILE to write another rule file"
        )
    }

    func write(_ text: String, _ value: Secret) throws(CommandError) {
        do throws(IOError) {
            try value.withBytes { bytes throws(IOError) in
                try DurableFile.write(bytes, to: secret, mode: 0o600, replacing: replaces)
            }
            try DurableFile.write(text.utf8Span.span, to: rules, mode: 0o600, replacing: replaces)
        } catch { throw .failed("\(error)") }
    }
}
