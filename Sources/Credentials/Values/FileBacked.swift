import Crypto
import IO
import Synchronization

/// Something that is made of files, and made anew when they change. Files that are of no use leave what was there.
public final class FileBacked<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        /// Of what was read last, usable or not.
        var digest: [UInt8]
        /// Why that was of no use.
        var problem: FileProblem?
    }

    private let paths: [String]
    private let limit: Int
    private let make: @Sendable ([Secret]) throws -> Value
    private let state: Mutex<State>

    /// Reads the files. Blocks.
    /// - Parameters:
    ///   - limit: bytes of each file.
    ///   - make: makes the value of the files' contents, in the order of their paths. What it throws is a sentence that
    ///     reads well behind the paths.
    /// - Throws: why they are of no use.
    public init(
        _ paths: [String], limit: Int = 1 << 20, make: @escaping @Sendable ([Secret]) throws -> Value
    ) throws(FileProblem) {
        self.paths = paths
        self.limit = limit
        self.make = make
        let contents = try Self.read(paths, limit: limit)
        state = Mutex(State(value: try Self.make(make, contents, of: paths), digest: Self.digest(of: contents)))
    }

    public var value: Value { state.withLock { $0.value } }

    /// Looks whether the files have changed. Blocks: never on a loop.
    /// - Returns: why they are of no use, every time until they are again.
    public func refresh() -> FileProblem? {
        do throws(FileProblem) {
            let contents = try Self.read(paths, limit: limit)
            let digest = Self.digest(of: contents)
            if let known = state.withLock({ $0.digest == digest ? $0 : nil }) { return known.problem }
            // Not tried again before it changes: a key that is encrypted takes long to open.
            state.withLock { $0.digest = digest }
            do throws(FileProblem) {
                let value = try Self.make(make, contents, of: paths)
                state.withLock { ($0.value, $0.problem) = (value, nil) }
                return nil
            } catch {
                state.withLock { $0.problem = error }
                return error
            }
        } catch { return error }
    }

    private static func read(_ paths: [String], limit: Int) throws(FileProblem) -> [Secret] {
        var contents: [Secret] = []
        for path in paths {
            do throws(FileError) {
                var bytes = try SmallFile.read(path, limit: limit)
                contents.append(Secret(wiping: &bytes))
            } catch { throw FileProblem(path: path, error) }
        }
        return contents
    }

    private static func make(
        _ make: ([Secret]) throws -> Value, _ contents: [Secret], of paths: [String]
    ) throws(FileProblem) -> Value {
        do { return try make(contents) } catch {
            throw FileProblem(path: paths.joined(separator: " with "), "\(error)")
        }
    }

    private static func digest(of contents: [Secret]) -> [UInt8] {
        var digest = MessageDigest(.sha256)
        for content in contents {
            content.withBytes { bytes in
                digest.update(utf8: "\(bytes.count) ")
                digest.update(bytes)
            }
        }
        return digest.finish().array
    }
}

/// Why a file is of no use. Shows nothing of what is in it.
public struct FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public let path: String
    /// A clause that reads well behind the path.
    public let sentence: String

    public init(path: String, _ sentence: String) {
        self.path = path
        self.sentence = sentence
    }

    init(path: String, _ error: FileError) {
        switch error {
        case .tooLarge: self.init(path: path, "the file is too large")
        case .system(let errno): self.init(path: path, "cannot read the file: \(IOError.sentence(for: errno))")
        }
    }

    public var description: String { "\(path): \(sentence)" }
}
