import Foundation

/// A file that lasts as long as the value.
final class TemporaryFile: Sendable {
    let path = NSTemporaryDirectory() + "attache-\(UUID().uuidString)"

    init(_ content: String? = nil) throws {
        if let content { try write(content) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ content: String) throws {
        try content.write(toFile: path, atomically: true, encoding: .utf8)
    }

    func remove() throws { try FileManager.default.removeItem(atPath: path) }
}
