import Foundation

/// The run's own folder. Servers give up root before they read from it, so every level may be traversed.
enum Scratch {
    static let root: String = {
        var template = Array("/tmp/attache-e2e.XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } != nil }
        guard made else { fatalError("no temporary folder: \(String(cString: strerror(errno)))") }
        let path = String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        chmod(path, 0o755)
        LastWill.shared.remove(folder: path)
        return path
    }()

    /// A new empty folder.
    static func folder(_ name: String) -> String {
        let path = "\(root)/\(name).\(UUID().uuidString.prefix(8))"
        mkdir(path, 0o755)
        return path
    }

    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, mode)
    }

    static func read(_ path: String) -> String {
        String(decoding: bytes(path), as: UTF8.self)
    }

    static func bytes(_ path: String) -> [UInt8] {
        FileManager.default.contents(atPath: path).map(Array.init) ?? []
    }
}
