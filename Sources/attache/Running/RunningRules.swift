import Admin
import Bytes
import Credentials
import Crypto
import IO
import Rules

/// Writes suggested lines into the rule file of this process, as `attache init` writes it.
struct RunningRules {
    /// The rule file.
    let path: String
    let audit: AuditTrail
    let reloads: Reload.Requests

    /// The time between two looks at the reload, and how many there are.
    private static let pause: Milliseconds = 50
    private static let looks = 200

    /// Adds the lines without blocking the loop.
    func add(_ suggestion: SuggestedLines, user: String, secret: Secret) async -> DeskAnswer {
        await BlockingPool.shared.run { () -> DeskAnswer in
            do throws(CommandError) { return .done(try write(suggestion, user, secret)) } catch {
                return .refused(error.sentence)
            }
        }
    }

    /// Blocks until the rules are loaded.
    private func write(
        _ suggestion: SuggestedLines, _ user: String, _ secret: Secret
    ) throws(CommandError) -> String {
        let edit = try RuleFileEdit(path)
        try edit.requireWritable()
        var text = suggestion.text
        var file: String?
        if suggestion.need != .nothing, let credential = suggestion.credential {
            try Self.check(suggestion.need == .password ? user : nil, secret)
            let folder = RuleFileEdit.folder(of: path)
            let wish =
                suggestion.need == .token ? SecretFileName.token(credential) : SecretFileName.password(credential)
            let name = Configuration.free(wish) { SmallFile.exists("\(folder)/\($0)") }
            text = suggestion.text(user: RuleWord.quoted(user), file: RuleWord.quoted(name))
            file = "\(folder)/\(name)"
        }
        let bytes = edit.bytes(adding: text, before: suggestion.precedes)
        _ = try edit.read(bytes)
        if let file { try Self.write(secret, to: file) }
        do throws(CommandError) { try edit.write(bytes) } catch {
            if let file { DurableFile.remove(file) }
            throw error
        }
        audit.note(
            AuditEvent(
                .rulesAdded, by: .dashboard, details: "\(path): \(text.split(separator: "\n").joined(separator: " "))"))
        return reload()
    }

    private func reload() -> String {
        let number = reloads.request(by: .dashboard, retrying: false)
        for _ in 0..<Self.looks {
            switch reloads.outcome(of: number) {
            case .reloaded?: return "the lines are in \(path), and the rules were reloaded"
            case .rejected(let reason)?:
                return "the lines are in \(path), but the rules were not reloaded: \(reason)"
            case nil: Pause.take(Self.pause)
            }
        }
        return "the lines are in \(path); the rules are still being reloaded"
    }

    /// Throws if the user or the secret cannot be sent (RFC 7617 section 2).
    private static func check(_ user: String?, _ secret: Secret) throws(CommandError) {
        if let user, user.isEmpty || Console.printable(user) != user {
            throw .failed("the user's name is empty or has a control character in it")
        }
        let isUsable = secret.withBytes { bytes in
            !bytes.isEmpty && bytes.array.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
                && String(validating: bytes.array, as: UTF8.self) != nil
        }
        guard isUsable else { throw .failed("the secret is empty, or has a character that cannot be sent") }
    }

    private static func write(_ secret: Secret, to path: String) throws(CommandError) {
        try CommandError.failing {
            try secret.withBytes { try DurableFile.write($0, to: path, mode: 0o600, replacing: false) }
        }
    }
}
