import Glibc
import IO
import Rules

/// The machine's files and environment, for the rule file.
struct FileSource: SourceReader {
    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
        do throws(FileError) {
            return try SmallFile.read(path, limit: limit)
        } catch {
            switch error {
            case .tooLarge: throw .tooLarge(limit: limit)
            case .system(errno: ENOENT): throw .notFound
            case .system(let errno): throw .unreadable(IOError.sentence(for: errno))
            }
        }
    }

    var today: Day? { Day(epochSeconds: SystemClock.epochMilliseconds / 1000) }

    func environment(_ name: String) -> String? {
        Environment.value(of: name)
    }
}
