import Foundation
import Testing

/// The servers themselves, without the proxy: what the other suites take for granted.
struct HarnessTests {
    @Test func `a port that a program is told is given to nobody else, and lets the program listen`() throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        #expect(throws: Socket.Failure.self) { try Socket.connect(to: port) }
        // A server that comes and goes finds it as it left it.
        for _ in 1...2 {
            let server = try Socket.listen(on: port)
            close(try Socket.connect(to: port))
            close(server)
        }
        let others = (0..<100).map { _ in FreePort.take() }
        for other in others { FreePort.release(other) }
        #expect(!others.contains(port) && Set(others).count == others.count)
        // A program that wants the port for itself alone does not get this one.
        let taken = try Finished.run(
            "python3", ["-c", "import socket; socket.socket().bind(('127.0.0.1', \(port)))"], seconds: 20)
        #expect(taken.errorOutput.contains("Address already in use"), "\(taken)")
    }

    @Test(arguments: ["basic", "digest", "steady", "pip", "multi", "domain"])
    func `Apache refuses a request without an answer and accepts curl's`(name: String) throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let url = apache.url("/\(name)/?\(mark)")
        #expect(try Curl.fetch(url).status == 401)
        let scheme = ["basic", "git", "apt"].contains(name) ? "--basic" : "--digest"
        let answered = try Curl.fetch(url, [scheme, "-u", "\(Account.user):\(Account.password)"])
        #expect(answered.status == 200, "\(answered)")
        #expect(answered.text == "this is \(name)\n")
        let entries = apache.entries(marked: mark, atLeast: scheme == "--basic" ? 2 : 3)
        #expect(entries.last?.user == Account.user)
        #expect(entries.last?.authorization != nil)
        #expect(entries.first?.authorization == nil)
    }

    @Test func `Apache calls a nonce stale after two seconds`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let url = apache.url("/digest/?\(mark)")
        let answered = try Curl.fetch(url, ["--digest", "-u", "\(Account.user):\(Account.password)"])
        #expect(answered.status == 200)
        let answer = try #require(apache.entries(marked: mark, atLeast: 2).last?.authorization)
        #expect(try Curl.fetch(url, ["-H", "Authorization: \(answer)"]).status == 200)
        #expect(try apache.awaitStaleness(of: "/digest/?\(mark)", markedBy: mark))
    }

    @Test func `Apache's three challenges stand in three lines`() throws {
        let answered = try Curl.fetch(ApacheServer.shared().url("/multi/"))
        let schemes = answered.message.values("WWW-Authenticate").map { $0.prefix { $0 != " " } }
        #expect(Set(schemes) == ["Negotiate", "Basic", "Digest"])
    }

    @Test(arguments: ["--data-binary", "-T"])
    func `Apache's upload script counts and hashes what arrives`(option: String) throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let path = try Payload.file(bytes: 70_000)
        let argument = option == "-T" ? path : "@" + path
        let fields = option == "-T" ? ["-X", "POST", "-H", "Transfer-Encoding: chunked"] : []
        let sent = try Curl.fetch(apache.url("/open/upload.cgi?\(mark)"), [option, argument] + fields)
        let expected = "70000 \(try Hash.sha256(ofFile: path))"
        #expect(sent.text == expected + "\n", "\(sent)")
        #expect(try Payload.arrivals(at: apache, marked: mark) == [expected])
    }

    @Test(arguments: ["md5", "sha256", "both", "userhash"])
    func `lighttpd refuses a request without an answer and accepts curl's`(name: String) throws {
        let url = try LighttpdServer.shared().url("/\(name)/")
        let refused = try Curl.fetch(url)
        #expect(refused.status == 401)
        #expect(refused.message.values("WWW-Authenticate").count == (name == "both" ? 2 : 1))
        let answered = try Curl.fetch(url, ["--digest", "-u", "\(Account.user):\(Account.password)"])
        #expect(answered.status == 200, "\(answered)")
    }

    @Test(arguments: ["MD5", "SHA-256", "SHA-256-sess", nil])
    func `the guard accepts curl's digest, and no answer a second time`(algorithm: String?) throws {
        let sentry = DigestGuard(.init(algorithm: algorithm))
        let origin = try RecordingOrigin.guarded(by: sentry)
        let answered = try Curl.fetch(origin.url(), ["--digest", "-u", "\(Account.user):\(Account.password)"])
        #expect(answered.status == 200, "\(sentry.refused)")
        let request = try #require(origin.messages.last)
        let wire = try Wire(to: origin.port)
        try wire.send(request.head)
        #expect(try wire.readResponse().status == 401)
        #expect(sentry.refused == ["nc 00000001 repeated"])
    }

    @Test func `the guard without qop accepts curl's digest`() throws {
        let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(algorithm: nil, qop: nil)))
        let answered = try Curl.fetch(origin.url(), ["--digest", "-u", "\(Account.user):\(Account.password)"])
        #expect(answered.status == 200)
    }
}
