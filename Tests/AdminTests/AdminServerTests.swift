import Bytes
import Foundation
import IO
import TestSupport
import Testing
import Transport

@testable import Admin

@Suite struct AdminServerTests {
    /// Returns a server's responses to `sent` until it ends the connection.
    private func answers(
        to sent: String, timeouts: AdminConnection.Timeouts = AdminConnection.Timeouts(), thenShutdown: Bool = false
    ) async throws -> String {
        try await onLoop { loop in
            let server = try AdminServer(
                address: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop, site: try site(),
                timeouts: timeouts)
            defer { server.close() }
            return try await exchange(sent, with: server.address, on: loop, thenShutdown: thenShutdown)
        }
    }

    @Test(arguments: [
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200 OK", "\r\n\r\nok\n"),
        ("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200 OK", "Content-Length: 3\r\n"),
        ("GET /readyz HTTP/1.0\r\n\r\n", "200 OK", "\r\n\r\nready\n"),
        (
            "GET /metrics?x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200 OK",
            "attache_requests_total 7\n"
        ),
        ("GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "404 Not Found", "there is no such page"),
        (
            "GET /practice/basic HTTP/1.0\r\n\r\n", "401 Unauthorized",
            "WWW-Authenticate: Basic realm=\"practice basic\""
        ),
        (
            "DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "405 Method Not Allowed",
            "Allow: GET, HEAD\r\n"
        ),
        (
            "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello",
            "405 Method Not Allowed",
            "Connection: close"
        ),
        (
            "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n", "421 ",
            "this is the admin address"
        ),
        ("GET /metrics HTTP/1.1\r\nHost: rebound.example.com\r\nConnection: close\r\n\r\n", "421 ", "localhost"),
        ("GET /healthz HTTP/1.1\r\n\r\n", "400 Bad Request", "there is no Host field"),
        ("GET /healthz HTTP/1.1\nHost: localhost\n\n", "400 Bad Request", "a line feed alone"),
        ("GET /healthz HTTP/2.0\r\n\r\n", "505 ", "not supported"),
        ("GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\n", "414 ", "start line"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 20_000))", "431 ", "header section"),
    ])
    func `a request gets its answer, and what the parser refuses gets its status`(
        sent: String, status: String, part: String
    ) async throws {
        let text = try await answers(to: sent)
        #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(text)")
        #expect(text.contains(part), "\(text)")
    }

    @Test func `a HEAD request gets no body`() async throws {
        let text = try await answers(to: "HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test func `requests sent at once are answered in their order on one connection`() async throws {
        let text = try await answers(
            to: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                + "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let bodies = text.components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst().map { answer in
            answer.components(separatedBy: "\r\n\r\n").last
        }
        #expect(bodies == ["ok\n", "ready\n", "attache_requests_total 7\n"])
    }

    @Test func `bytes behind a body are not taken for a request`() async throws {
        let text = try await answers(
            to:
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhelloGET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        #expect(text.hasSuffix("\r\n\r\nok\n"))
        #expect(text.contains("Connection: close\r\n"))
    }

    @Test func `an absolute target that names the listener is answered`() async throws {
        let text = try await onLoop { loop in
            let server = try AdminServer(
                address: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop, sources: sources())
            defer { server.close() }
            let authority = server.address.description
            return try await exchange(
                "GET http://\(authority)/healthz HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n",
                with: server.address, on: loop)
        }
        #expect(text.hasSuffix("\r\n\r\nok\n"))
    }

    @Test func `half a head is told that its time is over, silence is not`() async throws {
        let timeouts = AdminConnection.Timeouts(idle: 50, head: 50)
        let late = try await answers(to: "GET /healthz HTTP/1.1\r\nHost:", timeouts: timeouts)
        #expect(late.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        #expect(try await answers(to: "", timeouts: timeouts) == "")
    }

    @Test func `a client that leaves in the middle of a head gets nothing`() async throws {
        #expect(try await answers(to: "GET /healthz HTTP/1.1\r\n", thenShutdown: true) == "")
    }

    @Test func `beyond the limit the client that waits longest makes room`() async throws {
        let (texts, lost) = try await onLoop { loop in
            let server = try AdminServer(
                address: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop, site: try site(),
                connectionLimit: 3)
            defer { server.close() }
            var (clients, texts): ([ByteStream], [String]) = ([], [])
            for _ in 0..<5 {
                let client = try await Connector.connect(
                    to: [server.address], within: 2000, on: loop, wakeup: Wakeup())
                client.setDeadline(after: 5000)
                try await send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", on: client)
                let read = ByteBuffer(capacity: 1024)
                _ = try await client.read(into: read)
                texts.append(read.readable.text)
                clients.append(client)
            }
            // The first client gets the response, the last is still served.
            let lost = try await clients[0].read(into: ByteBuffer(capacity: 64))
            try await send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", on: clients[4])
            texts.append(try await rest(of: clients[4]))
            return (texts, lost)
        }
        #expect(texts.count == 6)
        #expect(texts.allSatisfy { $0.hasSuffix("\r\n\r\nok\n") }, "\(texts)")
        #expect(lost == 0)
    }

    @Test(arguments: [(0, true), (1, false)])
    func `a body of 16 KiB is read, and another request follows it; a larger one is not read`(
        excess: Int, isRead: Bool
    ) async throws {
        let text = try await onLoop { loop in
            let access = DashboardAccess()
            let (sources, session) = (dashboardSources(access), try #require(access.makeSession()))
            let dashboard = DashboardSite(sources, feed: DashboardFeed(sources, limit: 1, on: loop))
            let server = try AdminServer(
                address: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop,
                site: AdminSite(sources: AdminTests.sources(), practice: nil, dashboard: dashboard))
            defer { server.close() }
            let body = String(repeating: "x", count: (16 << 10) + excess)
            return try await exchange(
                "POST /dashboard/answer HTTP/1.1\r\nHost: localhost\r\nX-Attache-Key: \(session.key)\r\n"
                    + "Cookie: attache-\(server.address.port)=\(session.cookie)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)GET /healthz HTTP/1.0\r\n\r\n",
                with: server.address, on: loop)
        }
        #expect(text.hasSuffix("\r\n\r\nok\n") == isRead, "\(text)")
    }

    @Test(arguments: [false, true])
    func `a client that sends half a head, or half a body, makes room as well`(hasHead: Bool) async throws {
        let text = try await onLoop { loop in
            let access = DashboardAccess()
            let (sources, session) = (dashboardSources(access), try #require(access.makeSession()))
            let dashboard = DashboardSite(sources, feed: DashboardFeed(sources, limit: 1, on: loop))
            let server = try AdminServer(
                address: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop,
                site: AdminSite(sources: AdminTests.sources(), practice: nil, dashboard: dashboard),
                timeouts: AdminConnection.Timeouts(head: 60_000), connectionLimit: 3)
            defer { server.close() }
            let head =
                "POST /dashboard/answer HTTP/1.1\r\nHost: localhost\r\nX-Attache-Key: \(session.key)\r\n"
                + "Cookie: attache-\(server.address.port)=\(session.cookie)\r\nContent-Length: 9\r\n\r\nhalf"
            let half = hasHead ? head : "GET /healthz HT"
            var clients: [ByteStream] = []
            for part in Array(repeating: half, count: 5) + ["GET /healthz HTTP/1.0\r\n\r\n"] {
                let client = try await Connector.connect(
                    to: [server.address], within: 2000, on: loop, wakeup: Wakeup())
                client.setDeadline(after: 5000)
                try await send(part, on: client)
                clients.append(client)
            }
            return try await rest(of: clients[5])
        }
        #expect(text.hasSuffix("\r\n\r\nok\n"), "\(text)")
    }

    @Test func `a health check is served while others have their answers and do not leave, or only connect`()
        async throws
    {
        let text = try await onLoop { loop in
            let server = try AdminServer(
                address: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop,
                site: AdminSite(sources: sources(), practice: nil, dashboard: nil),
                timeouts: AdminConnection.Timeouts(linger: 60_000), connectionLimit: 3)
            defer { server.close() }
            let connect = {
                let client = try await Connector.connect(
                    to: [server.address], within: 2000, on: loop, wakeup: Wakeup())
                client.setDeadline(after: 5000)
                return client
            }
            var clients: [ByteStream] = []
            for _ in 1...5 {
                let client = try await connect()
                try await send(
                    "POST /practice/basic HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf", on: client)
                _ = try await client.read(into: ByteBuffer(capacity: 1024))
                clients.append(client)
            }
            for _ in 1...5 { clients.append(try await connect()) }
            let check = try await connect()
            try await send("GET /healthz HTTP/1.0\r\n\r\n", on: check)
            return try await rest(of: check)
        }
        #expect(text.hasSuffix("\r\n\r\nok\n"), "\(text)")
    }

    @Test func `a body without a session is not waited for`() async throws {
        let text = try await answers(
            to: "POST /practice/basic HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf")
        #expect(text.hasPrefix("HTTP/1.1 405 ") && text.contains("Connection: close"), "\(text)")
    }

    @Test func `a closed server has left its port and its clients`() async throws {
        let (read, error) = try await onLoop { loop in
            let server = try AdminServer(
                address: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop, sources: sources())
            let address = server.address
            let client = try await Connector.connect(to: [address], within: 2000, on: loop, wakeup: Wakeup())
            try await send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", on: client)
            _ = try await client.read(into: ByteBuffer(capacity: 1024))
            server.close()
            let read = try await client.read(into: ByteBuffer(capacity: 1024))
            do {
                _ = try await Connector.connect(to: [address], within: 2000, on: loop, wakeup: Wakeup())
                return (read, "")
            } catch { return (read, "\(error)") }
        }
        #expect(read == 0)
        #expect(error.contains("connection refused"))
    }
}

private func exchange(
    _ sent: String, with address: SocketAddress, on loop: EventLoop, thenShutdown: Bool = false
) async throws -> String {
    let stream = try await Connector.connect(to: [address], within: 2000, on: loop, wakeup: Wakeup())
    try await send(sent, on: stream)
    if thenShutdown { stream.shutdownWrite() }
    return try await rest(of: stream)
}

private func send(_ text: String, on stream: ByteStream) async throws {
    stream.wakeup = stream.wakeup ?? Wakeup()
    let buffer = ByteBuffer(capacity: max(text.utf8.count, 64))
    buffer.append(text)
    try await stream.write(from: buffer)
}

private func rest(of stream: ByteStream) async throws -> String {
    let buffer = ByteBuffer(capacity: 1 << 20)
    while try await stream.read(into: buffer) > 0 {}
    stream.close()
    return buffer.readable.text
}
