import Bytes
import Foundation
import IO
import Synchronization
import Testing

@Suite final class DurableFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "attache-durable-\(UUID().uuidString)")

    init() throws { try DurableFile.makeDirectory(folder.path) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `a file is made with its permissions, and replaced whole`() throws {
        let path = folder.appending(path: "key").path
        try DurableFile.write([1, 2, 3].span, to: path, mode: 0o600)
        #expect(try mode(path) == 0o600)
        let reader = try FileHandle(forReadingFrom: URL(filePath: path))
        try DurableFile.write([4].span, to: path, mode: 0o644)
        #expect(try mode(path) == 0o644)
        #expect(try SmallFile.read(path, limit: 10) == [4])
        // Who had it open still has the old one.
        #expect(try reader.readToEnd() == Data([1, 2, 3]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key"])
    }

    @Test func `a file that cannot be written leaves nothing`() throws {
        let missing = folder.appending(path: "missing/key").path
        let error = #expect(throws: IOError.self) { try DurableFile.write([1].span, to: missing, mode: 0o600) }
        #expect(error?.description == "cannot make a file in \(folder.path)/missing: no such file or directory")
        let directory = folder.appending(path: "directory").path
        try DurableFile.makeDirectory(directory)
        #expect(throws: IOError.self) { try DurableFile.write([1].span, to: directory, mode: 0o600) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["directory"])
    }

    @Test func `directories are made for this user alone, and those that are there stay as they are`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try DurableFile.makeDirectory("\(folder.path)/a//b/")
        #expect(try mode(folder.path) == 0o755)
        #expect(try mode("\(folder.path)/a") == 0o700)
        #expect(try mode("\(folder.path)/a/b") == 0o700)
        try DurableFile.write([1].span, to: "\(folder.path)/file", mode: 0o600)
        #expect(throws: IOError.self) { try DurableFile.makeDirectory("\(folder.path)/file/b") }
    }

    @Test func `a process that changes a directory keeps readers away until it lets go`() throws {
        let writer = try DirectoryLock(exclusive: folder.path)
        #expect(try DirectoryLock(shared: folder.path, waits: false) == nil)
        writer.release()
        let (first, second) = try (
            DirectoryLock(shared: folder.path, waits: false), DirectoryLock(shared: folder.path, waits: false)
        )
        #expect(first != nil)
        #expect(second != nil)
    }

    @Test func `a thread waits for a task on a loop of its own`() throws {
        let wasOnLoop = try BlockingTask.run { loop in
            await BlockingPool.shared.run {}
            return loop.isCurrent
        }
        #expect(wasOnLoop)
    }
}
