import Credentials
import Crypto
import Foundation
import HTTP
import Testing

@testable import Proxy

/// The fate of a request that comes through a tunnel, seen from the client.
struct InterceptedTunnelTests {
    private static let rules = "route * { intercept }"

    /// Request line, further lines, and the status and error type of the answer, in a tunnel to port 1 of 127.0.0.1, on
    /// which nothing listens.
    private static let cases: [(String, [String], Int, String)] = [
        ("GET / HTTP/1.1", ["Host: 127.0.0.1:1"], 502, "connection_refused"),
        ("GET http://127.0.0.1:1/ HTTP/1.1", ["Host: 127.0.0.1:1"], 502, "connection_refused"),
        ("GET /a HTTP/1.0", [], 502, "connection_refused"),
        ("OPTIONS * HTTP/1.1", ["Host: 127.0.0.1:1"], 502, "connection_refused"),
        ("GET / HTTP/1.1", ["Host: 127.0.0.1:2"], 421, "http_request_error"),
        ("GET / HTTP/1.1", ["Host: 127.0.0.1"], 502, "connection_refused"),
        ("GET http://127.0.0.1:1/ HTTP/1.1", ["Host: a.example"], 502, "connection_refused"),
        ("GET http://127.0.0.1/ HTTP/1.1", ["Host: 127.0.0.1:1"], 421, "http_request_error"),
        ("GET / HTTP/1.1", ["Host: 127.0.0.2"], 421, "http_request_error"),
        // DNS gives this name the address.
        ("GET / HTTP/1.1", ["Host: localhost:1"], 502, "connection_refused"),
        ("GET / HTTP/1.1", ["Host: localhost:2"], 421, "http_request_error"),
        ("GET / HTTP/1.1", ["Host: 127.0.0.1.:1"], 400, "http_request_error"),
        ("OPTIONS * HTTP/1.1", ["Host: a.example"], 421, "http_request_error"),
        ("GET https://127.0.0.1:1/ HTTP/1.1", ["Host: 127.0.0.1:1"], 421, "http_request_error"),
        ("GET http://a.example/ HTTP/1.1", ["Host: a.example"], 421, "http_request_error"),
        ("CONNECT http://127.0.0.1:1 HTTP/1.1", ["Host: 127.0.0.1:1"], 400, "http_request_error"),
    ]

    /// The answers to the requests sent in one tunnel, all at once.
    private func answers(in proxy: RunningProxy, to place: String = "127.0.0.1:1", _ requests: String...) async throws
        -> [Substring]
    {
        let connect = "CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n\r\n"
        let answer = try await proxy.answer(to: connect + requests.joined())
        let prefix = "HTTP/1.1 200 Connection established\r\n\r\n"
        try #require(answer.hasPrefix(prefix), "\(answer)")
        return answer.dropFirst(prefix.count).split(separator: "HTTP/1.1 ")
    }

    @Test func `a request in a tunnel is for the server that the tunnel was opened to`() async throws {
        let proxy = try RunningProxy(try servicePolicy(Self.rules))
        for (line, fields, status, error) in Self.cases {
            let head = ([line] + fields + ["Connection: close"]).joined(separator: "\r\n")
            let answers = try await answers(in: proxy, head + "\r\n\r\n")
            #expect(answers.count == 1)
            #expect(answers.first?.hasPrefix("\(status) ") == true, "\(line) \(fields): \(answers)")
            #expect(answers.first?.contains("error=\(error);") == true, "\(line) \(fields): \(answers)")
        }
    }

    @Test func `a tunnel carries many requests, refused ones too`() async throws {
        let proxy = try RunningProxy(try servicePolicy(Self.rules))
        let answers = try await answers(
            in: proxy, "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n",
            "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n")
        #expect(answers.map { $0.prefix(3) } == ["502", "501", "421", "502"])
        #expect(answers.dropFirst(2).first?.contains("the tunnel was opened to 127.0.0.1 port 1") == true)
    }

    @Test func `the names of the server may differ in case and by the dot of the root`() async throws {
        let proxy = try RunningProxy(try servicePolicy(Self.rules, egress: "deny loopback; connect-ports any"))
        let answers = try await answers(
            in: proxy, to: "localhost:80", "GET / HTTP/1.1\r\nHost: LOCALHOST\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost.:80\r\nConnection: close\r\n\r\n")
        #expect(answers.map { $0.prefix(3) } == ["403", "403"])
        #expect(answers.allSatisfy { $0.contains("error=destination_ip_prohibited;") }, "\(answers)")
    }

    @Test(arguments: [
        ("[::1]:80", "[0:0::1]", "403"), ("[::ffff:127.0.0.1]:80", "127.0.0.1", "403"), ("[::1]:80", "[::2]", "421"),
        ("127.0.0.1:80", "[::FFFF:7f00:1]:80", "403"), ("127.0.0.1:80", "[::127.0.0.1]", "421"),
        ("[0::1]:80", "[::1]:81", "421"), ("[::1]:80", "127.0.0.1", "421"),
    ])
    func `an address of the server may be spelled in other ways, and no other address`(
        place: String, host: String, status: String
    ) async throws {
        let proxy = try RunningProxy(try servicePolicy(Self.rules, egress: "deny loopback; connect-ports any"))
        let answers = try await answers(
            in: proxy, to: place, "GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        #expect(answers.map { $0.prefix(3) } == [status[...]], "\(answers)")
    }

    @Test func `the client that opened the tunnel is asked for nothing in it`() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/users.\(UUID().uuidString)"
        defer { unlink(path) }
        let hash = try PasswordHash.make(Secret("password"), method: .sha256)
        try "alice:\(hash)\n".write(toFile: path, atomically: true, encoding: .utf8)
        let clients = "allow 127.0.0.0/8; authenticate basic; users file \(path)"
        let proxy = try RunningProxy(try servicePolicy(Self.rules, clients: clients))
        let request = "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n"
        let connect = "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"
        let refused = try await proxy.answer(to: connect + "Connection: close\r\n\r\n" + request)
        #expect(refused.hasPrefix("HTTP/1.1 407 "))
        let proof = "Proxy-Authorization: Basic YWxpY2U6cGFzc3dvcmQ=\r\n\r\n"
        let answer = try await proxy.answer(to: connect + proof + request)
        #expect(answer.contains("HTTP/1.1 502 "), "\(answer)")
    }

    @Test func `the rules of egress are asked before the client is told that its tunnel is open`() async throws {
        let proxy = try RunningProxy(try servicePolicy(Self.rules, egress: "allow loopback; connect-ports 443"))
        let answer = try await proxy.answer(
            to: "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 "))
    }
}
