import Bytes
import Glibc
import TestSupport
import Testing

@testable import IO

struct LocalSocketTests {
    /// A path in a folder of its own.
    static func path() throws -> LocalPath {
        var template = Array("/tmp/attache-local.XXXXXX".utf8CString)
        _ = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return try #require(LocalPath(folder + "/s"))
    }

    private static func mode(_ path: LocalPath) -> mode_t? {
        var status = stat()
        return lstat("\(path)", &status) == 0 ? status.st_mode : nil
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func `the file has the mode, whatever the mask`(mode: UInt32) throws {
        let path = try Self.path()
        let socket = try LocalSocket(path, mode: mode, group: getgid())
        #expect(Self.mode(path) == S_IFSOCK | mode)
        socket.remove()
        #expect(Self.mode(path) == nil)
    }

    @Test func `a file that has taken its place is not removed`() throws {
        let path = try Self.path()
        let first = try LocalSocket(path, mode: 0o600, group: nil)
        path.remove()
        let second = try LocalSocket(path, mode: 0o600, group: nil)
        first.remove()
        #expect(Self.mode(path) != nil)
        second.remove()
        #expect(Self.mode(path) == nil)
    }

    @Test func `a socket that answers, or one that is full, is in use`() throws {
        let path = try Self.path()
        let first = try LocalSocket(path, mode: 0o600, group: nil)
        defer { first.remove() }
        let refused = #expect(throws: LocalListener.Failure.self) { try LocalSocket(path, mode: 0o600, group: nil) }
        guard case .inUse(let process)? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(process == getpid())
    }

    @Test func `groups are known by name and number`() {
        #expect(SystemGroup.number(of: "root") == 0)
        #expect(SystemGroup.number(of: "4242") == 4242)
        #expect(SystemGroup.number(of: "no such group") == nil)
    }
}
