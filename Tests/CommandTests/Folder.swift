import Foundation

/// A folder for one test, removed with its content. Only its owner may read it, so that no secret in it causes a
/// warning.
final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "attache-command-\(UUID().uuidString)")

    init(_ files: [String: String] = [:]) throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (name, text) in files {
            let file = url.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
