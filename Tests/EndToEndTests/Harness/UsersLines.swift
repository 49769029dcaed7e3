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
}
