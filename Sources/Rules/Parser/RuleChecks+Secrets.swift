import Bytes

extension RuleChecks {
    /// Warns of secrets that are probably exposed without their author's knowledge.
    struct Secrets: BlockReader {
        let context: ReadingContext

        func check() {
            warnOfPaths()
            warnOfExposure()
        }

        private func warnOfPaths() {
            for (word, value) in context.valuesForUse where value.source == .written && looksLikePath(value, of: word) {
                let home = value.text.hasPrefix("~") ? ", and write the full path, because '~' is not expanded" : ""
                log.report(
                    .warning, at: value.range,
                    "this looks like a path, but is used as the \(word) itself: write 'file' before it\(home)")
            }
        }

        /// Warns of a secret that all users can read. A group may read it: a service's own, or that of a container's
        /// volume.
        private func warnOfExposure() {
            var seen: Set<String> = []
            for (word, value) in context.valuesForUse where Self.isSecret(word) {
                let path: String
                switch value.source {
                case .environment, .command: continue
                case .file(let file): path = file
                case .written:
                    guard value.isSecret, value.text != Self.published,
                        let file = context.sources.file(value.range.file)
                    else { continue }
                    path = file.path
                }
                guard seen.insert(path).inserted else { continue }
                let file = value.source == .written ? "the rule file with this secret" : "this file"
                warn(of: file, path, at: value.range)
            }
            for file in context.keyFiles where seen.insert(file.path).inserted {
                warn(of: "this file", file.path, at: file.range)
            }
        }

        private func warn(of file: String, _ path: String, at range: SourceRange) {
            guard let mode = context.reader.exposedMode(of: path) else { return }
            let digits = "0" + String(mode & 0o7777, radix: 8)
            log.report(
                .warning, at: range,
                "every user of this machine can read \(file) (mode \(digits)); run: chmod 600 \(ShellWord.quoted(path))"
            )
        }

        private static func isSecret(_ word: String) -> Bool {
            typed.contains(word) || generated.contains(word) || ["store", "key", "nonce-key", "metrics"].contains(word)
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

        /// The password of the practice origin, which protects nothing else.
        private static let published = "practice makes perfect"
        private static let longestPath = 1024
        private static let typed: Set = ["password", "passphrase"]
        private static let generated: Set = [
            "token", "client-secret", "refresh-token", "assertion", "client-assertion", "subject-token", "actor-token",
            "secret-key", "session-token", "consumer-secret", "token-secret", "header",
        ]
    }
}
