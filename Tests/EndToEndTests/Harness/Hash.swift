import Foundation
import Synchronization

/// Message digests by the `openssl` command: an oracle that shares no code with the proxy.
enum Hash {
    private struct Key: Hashable {
        let algorithm: String
        let text: String
    }

    private static let known = Mutex<[Key: String]>([:])

    /// - Parameter algorithm: as `openssl dgst` calls it: `md5`, `sha256`, `sha512-256`.
    static func hex(_ algorithm: String, _ text: String) throws -> String {
        let key = Key(algorithm: algorithm, text: text)
        if let value = known.withLock({ $0[key] }) { return value }
        let file = "\(Scratch.root)/hash.\(UUID().uuidString)"
        try Scratch.write(text, to: file)
        defer { unlink(file) }
        let run = try Finished.run("openssl", ["dgst", "-r", "-\(algorithm)", file])
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        let value = String(run.output.prefix { $0 != " " })
        known.withLock { $0[key] = value }
        return value
    }

    static func sha256(ofFile path: String) throws -> String {
        String(try Finished.run("sha256sum", [path]).output.prefix { $0 != " " })
    }
}
