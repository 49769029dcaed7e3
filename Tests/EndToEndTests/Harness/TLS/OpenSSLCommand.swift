import Foundation

/// The `openssl` command, which makes what the servers show: keys, certificates, revocation lists, staples.
enum OpenSSLCommand {
    @discardableResult
    static func run(_ arguments: String..., directory: String = Scratch.root) throws -> String {
        try run(arguments, directory: directory)
    }

    @discardableResult
    static func run(_ arguments: [String], directory: String = Scratch.root) throws -> String {
        let run = try Finished.run(
            "openssl", arguments, environment: ["OPENSSL_CONF": "/dev/null"], directory: directory)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return run.output
    }
}
