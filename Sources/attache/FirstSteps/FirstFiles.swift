import Crypto
import IO
import Rules

/// The files that `attache init` writes: secrets, users and the rule file.
struct FirstFiles {
    let edit: RuleFileEdit
    let rules: FirstRules

    /// Writes the secrets first and the rule file last. If that fails, the secrets are removed again.
    func write(_ bytes: [UInt8]) throws(CommandError) {
        var written: [String] = []
        do throws(CommandError) {
            for login in rules.logins {
                guard let secret = login.secret else { continue }
                try write(secret, to: login.secretFile, &written)
            }
            if let user = rules.user {
                try write(user.password, to: user.passwordFile, &written)
                try write(try Self.line(of: user), to: user.file, &written)
            }
            try edit.write(bytes)
        } catch {
            for path in written { DurableFile.remove(path) }
            throw error
        }
        let list = Arguments.list([edit.path] + written)
        Console.print("written: \(list)\(edit.former == nil ? ", which only you can read" : "")")
    }

    private func write(_ secret: Secret, to name: String, _ written: inout [String]) throws(CommandError) {
        let path = "\(rules.folder)/\(name)"
        try CommandError.failing {
            try secret.withBytes { try DurableFile.write($0, to: path, mode: 0o600, replacing: rules.replaces) }
        }
        written.append(path)
    }

    /// The line of the users file.
    private static func line(of user: FirstRules.User) throws(CommandError) -> Secret {
        let hash = try CommandError.failing { try PasswordHash.make(user.password) }
        var line = Array("\(user.name):\(hash)\n".utf8)
        return Secret(wiping: &line)
    }
}
