import Foundation
import Synchronization

/// Content to upload, and what became of it.
enum Payload {
    private static let making = Mutex(())

    /// A file of that length that does not compress or repeat.
    static func file(bytes count: Int) throws -> String {
        try making.withLock { _ in
            let path = "\(Scratch.root)/payload.\(count)"
            if access(path, R_OK) == 0 { return path }
            let made = try Finished.run("sh", ["-c", "head -c \(count) /dev/urandom > \(path)"])
            guard made.succeeded else { throw Spawn.Failure(description: made.description) }
            return path
        }
    }

    /// `length sha256` of each request content that Apache's upload script received under that mark.
    static func arrivals(at apache: ApacheServer, marked mark: String) throws -> [String] {
        Scratch.read(apache.folder + "/uploads/arrived").split(separator: "\n")
            .filter { $0.hasPrefix(mark + " ") }.map { String($0.dropFirst(mark.count + 1)) }
    }
}
