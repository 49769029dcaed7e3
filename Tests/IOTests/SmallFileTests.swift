import Bytes
import Foundation
import IO
import Testing

@Suite struct SmallFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "attache-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    @Test func `a file is read whole, and no further than its limit`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "file").path
        let content = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data(content)))
        #expect(try SmallFile.read(path, limit: 10_000) == content)
        #expect(throws: FileError.tooLarge) { try SmallFile.read(path, limit: 9_999) }
        #expect(throws: FileError.system(errno: ENOENT)) { try SmallFile.read(path + "x", limit: 1) }
    }

    @Test(arguments: [
        ("EFBBBF61", "61"), ("EFBBBF", ""), ("EFBB", "EFBB"), ("EFBBBFEFBBBF", "EFBBBF"), ("61EFBBBF", "61EFBBBF"),
    ])
    func `a byte-order mark at the beginning is left out`(content: String, expected: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "text").path
        let bytes = try #require(Hex.decode(content))
        #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
        #expect(try SmallFile.read(path, limit: 100) == Hex.decode(expected))
    }

    @Test func `a file is exposed if every user may read it and enter each directory above`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "file").path
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        #expect(chmod(path, 0o644) == 0 && chmod(folder.path, 0o755) == 0)
        #expect(SmallFile.exposedMode(of: path) == 0o644)
        #expect(chmod(folder.path, 0o750) == 0)
        #expect(SmallFile.exposedMode(of: path) == nil)
        #expect(chmod(folder.path, 0o755) == 0 && chmod(path, 0o640) == 0)
        #expect(SmallFile.exposedMode(of: path) == nil)
        #expect(SmallFile.exposedMode(of: path + "x") == nil)
    }

    @Test func `a pipe that nobody writes to does not hold the reader for ever`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "pipe").path
        #expect(mkfifo(path, 0o600) == 0)
        #expect(try SmallFile.read(path, limit: 100) == [])
        // A writer that says nothing.
        let writer = open(path, O_RDWR)
        defer { close(writer) }
        #expect(throws: FileError.system(errno: ETIMEDOUT)) { try SmallFile.read(path, limit: 100) }
    }
}
