import Foundation

/// A repository with one commit below Apache's /git/, for the dumb protocol.
struct GitRepository {
    static let text = "a file of the repository\n"

    let url: String

    init(_ name: String, at apache: ApacheServer) throws {
        let work = Scratch.folder("git")
        let published = "\(apache.documents)/git/\(name)"
        try Scratch.write(Self.text, to: work + "/file")
        let author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.test"]
        for arguments in [
            ["init", "-q", "-b", "main"], ["add", "file"], author + ["commit", "-q", "-m", "first"],
            ["clone", "-q", "--bare", ".", published], ["--git-dir", published, "update-server-info"],
        ] {
            let run = try Self.git(arguments, directory: work)
            guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        }
        url = apache.url("/git/\(name)")
    }

    /// Makes an empty repository below Apache's /push/, for git's own server program.
    static func makeEmpty(_ name: String, at apache: ApacheServer) throws {
        let path = "\(apache.folder)/repositories/\(name)"
        let run = try git(["init", "-q", "--bare", "-b", "main", path], directory: apache.folder)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        // The program takes no repository of another user.
        if getuid() == 0 { _ = try Finished.run("chown", ["-R", "www-data", path]) }
    }

    static func git(_ arguments: [String], directory: String) throws -> Finished {
        let environment = ["GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"]
        return try Finished.run("git", arguments, environment: environment, directory: directory)
    }
}
