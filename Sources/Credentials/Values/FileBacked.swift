import Crypto
import IO
import Synchronization

/// A value made from files, and made again when they change. If the files cannot be used, the former value stays.
public final class FileBacked<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        /// The digest of the files that were read last, usable or not.
        var digest: [UInt8]
        /// The reason why they could not be used.
        var problem: FileProblem?
    }

    private let paths: [String]
    private let limit: Int
    private let make: @Sendable ([Secret]) throws -> Value
    private let state: Mutex<State>

    /// Reads the files. Blocks.
    /// - Parameters:
    ///   - limit: the limit of each file in bytes.
    ///   - make: makes the value from the files' contents, in the order of their paths. Its error is a sentence that
    ///     reads well after the paths.
    /// - Throws: why the files cannot be used.
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

    /// Reads the files again if they have changed. Blocks: do not call it on a loop.
    /// - Returns: why they cannot be used, every time until they can.
    public func refresh() -> FileProblem? {
        do throws(FileProblem) {
            let contents = try Self.read(paths, limit: limit)
            let digest = Self.digest(of: contents)
            if let known = state.withLock({ $0.digest == digest ? $0 : nil }) { return known.problem }
            // Not tried again until the files change: an encrypted key takes long to open.
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

/// The reason why a file cannot be used. It contains nothing of the content.
public struct FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public let path: String
    /// A clause that reads well after the path.
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
