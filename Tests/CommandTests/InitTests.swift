import Foundation
import Testing

/// `attache init` at a terminal.
struct InitTests {
    private static let refusal =
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    @Test func `the user is asked for, then the password, which is not shown`() throws {
        let server = try StubServer(answer: Self.refusal)
        let folder = try Folder()
        let path = folder.url.path + "/proxy.conf"
        let session = try TerminalSession(["init", "http://127.0.0.1:\(server.port)/", "--config", path])
        #expect(session.awaits("User: "))
        session.type("alice\n")
        #expect(session.awaits("Password: "))
        session.type("open sesame\n")
        let (text, status) = session.finish()
        #expect(status == 1, "\(text)")
        #expect(text.contains("the server refuses 'alice' with that password, which was tried once"), "\(text)")
        #expect(!text.contains("sesame"))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `without a URL it is asked for, too`() throws {
        let session = try TerminalSession(["init"])
        #expect(session.awaits("URL of the server: "))
        session.type("ci.example.com\n")
        let (text, status) = session.finish()
        #expect(status == 1 && text.contains("is not a complete URL"), "\(text)")
    }
}
