/// Secrets that are probably not where their author thinks.
struct SecretChecks: BlockReader {
    let context: ReadingContext

    func check() {
        for (word, value) in context.valuesForUse where value.origin == .written && looksLikePath(value, of: word) {
            let home = value.text.hasPrefix("~") ? ", and a whole path: '~' is not expanded" : ""
            log.report(
                .warning, at: value.range,
                "this looks like a path, and the path itself is taken for the \(word): say 'file' before it\(home)")
        }
    }

    private func looksLikePath(_ value: Value, of word: String) -> Bool {
        let text = value.text
        let isTyped = Self.typed.contains(word)
        guard isTyped || Self.generated.contains(word), (1...Self.longestPath).contains(text.utf8.count),
            !text.utf8.contains(0)
        else { return false }
        if ["./", "../", "~/", "/run/secrets/"].contains(where: text.hasPrefix) { return true }
        // One in 64 secrets in base64 begins with a slash.
        if isTyped, text.hasPrefix("/") { return true }
        return context.reader.isFile(context.sources.file(value.range.file)?.resolve(text) ?? text)
    }

    private static let longestPath = 1024
    private static let typed: Set = ["password", "passphrase"]
    private static let generated: Set = [
        "token", "client-secret", "refresh-token", "assertion", "secret-key", "session-token",
    ]
}
