import Foundation
import Testing

struct HealthcheckTests {
    private func ask(_ server: StubServer) throws -> CommandResult {
        let folder = try Folder(["proxy.conf": "admin 127.0.0.1:\(server.port)\n"])
        return try AttacheProgram.run("attache healthcheck", in: folder)
    }

    @Test func `a proxy that is well ends with 0 and one sentence`() throws {
        let server = try StubServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
        let result = try ask(server)
        #expect(result.status == 0)
        #expect(result.output == "healthy: 127.0.0.1:\(server.port) answers with status 200\n")
        #expect(result.errorOutput == "")
    }

    @Test(arguments: [
        ("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", "not healthy"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "is not the admin listener of a proxy"),
        ("HTTP/1.1 200 OK\r\nContent-Le", "is not the admin listener of a proxy"),
        ("", "is not the admin listener of a proxy"),
    ])
    func `anything else ends with 1 and says what came`(answer: String, words: String) throws {
        let server = try StubServer(answer: answer)
        let result = try ask(server)
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.errorOutput.hasPrefix("attache: "))
        #expect(result.errorOutput.contains(words), "\(result.errorOutput)")
    }

    @Test func `a listener that stays silent is given up`() throws {
        let server = try StubServer(answer: nil)
        let result = try ask(server)
        #expect(result.status == 1)
        #expect(result.errorOutput.contains("127.0.0.1:\(server.port): the time limit passed"))
    }
}
