import Foundation
import IO
import TestSupport
import Testing

struct SyslogSocketTests {
    private static func path() -> String {
        FileManager.default.temporaryDirectory.appending(path: "s-\(UUID().uuidString.prefix(8))").path
    }

    @Test func `each line is a message`() throws {
        let daemon = try LogDaemon(at: Self.path())
        let syslog = SyslogSocket(daemon.path)
        #expect(syslog.write(Array("one\ntwo\n\nthree\n".utf8)) == .all)
        #expect([daemon.next(), daemon.next(), daemon.next()] == ["one", "two", "three"])
    }

    @Test func `where no daemon is, lines are lost until there is one`() throws {
        let path = Self.path()
        let syslog = SyslogSocket(path)
        #expect(syslog.write(Array("lost\n".utf8)) == .part(0, errno: ENOENT))
        for word in ["first", "second"] {
            // The second finds the socket of a daemon that has gone.
            let daemon = try LogDaemon(at: path)
            #expect(syslog.write(Array("\(word)\n".utf8)) == .all)
            #expect(daemon.next() == word)
        }
        #expect(syslog.write(Array("a\nb\n".utf8)) == .part(0, errno: ENOENT))
    }

    @Test func `a line that the system does not take is cut`() throws {
        let daemon = try LogDaemon(at: Self.path())
        let syslog = SyslogSocket(daemon.path)
        #expect(syslog.write([UInt8](repeating: 0x78, count: 4 << 20) + [0x0A]) == .all)
        #expect(daemon.next() == String(repeating: "x", count: 8 << 10))
        #expect(
            SyslogSocket("/" + String(repeating: "x", count: 200)).write([0x78, 0x0A]) == .part(0, errno: ENAMETOOLONG))
    }
}
