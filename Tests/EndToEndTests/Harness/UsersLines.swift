/// Lines of a users file.
enum UsersLines {
    /// These users with the password of the harness's clients.
    static func of(_ users: String...) throws -> String {
        try users.map { user in
            let made = try Finished.run("htpasswd", ["-nbB", "-C", "4", user, Account.clientPassword])
            guard made.succeeded else { throw Spawn.Failure(description: made.description) }
            return made.output.split(separator: "\n").joined() + "\n"
        }.joined()
    }

    /// Lines for Digest, as `attache password` makes them, or without those of SHA-256.
    static func digest(_ users: String..., realm: String, onlyMD5: Bool = false) throws -> String {
        let path = Scratch.folder("digest") + "/word"
        try Scratch.write(Account.clientPassword + "\n", to: path)
        return try users.map { user in
            let made = try AttacheBinary.run("password", "--digest", realm, user, input: path)
            guard made.succeeded else { throw Spawn.Failure(description: made.description) }
            let lines = made.output.split(separator: "\n")
            return (onlyMD5 ? lines.suffix(1) : lines[...]).joined(separator: "\n") + "\n"
        }.joined()
    }
}
