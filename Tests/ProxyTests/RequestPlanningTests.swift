import HTTP
import Testing

@testable import Proxy
@testable import Upstream

/// The fate of a request once its head is there, seen from outside.
struct RequestPlanningTests {
    private static let rules = "route denied.example { deny }"

    /// Request line, further lines, and the status and error type of the answer.
    private static let cases: [(String, [String], Int, String?)] = [
        ("GET / HTTP/1.1", ["Host: a.example"], 400, "http_request_error"),
        ("GET https://127.0.0.1:1/ HTTP/1.1", ["Host: 127.0.0.1:1"], 502, "connection_refused"),
        ("POST ftp://a.example/ HTTP/1.1", ["Host: a.example"], 405, "http_request_error"),
        ("GET ftp://127.0.0.1:1/ HTTP/1.1", ["Host: 127.0.0.1:1"], 401, nil),
        ("GET gopher://a.example/ HTTP/1.1", ["Host: a.example"], 501, "http_request_error"),
        ("GET http://denied.example/ HTTP/1.1", ["Host: 127.0.0.1:1"], 403, "http_request_denied"),
        ("GET http://127.0.0.1:1/ HTTP/1.1", ["Host: denied.example"], 502, "connection_refused"),
        ("GET http://denied.example/ HTTP/1.1", ["Host: denied.example"], 403, "http_request_denied"),
        ("GET http://DENIED.example./ HTTP/1.1", ["Host: DENIED.example."], 403, "http_request_denied"),
        ("CONNECT denied.example:443 HTTP/1.1", ["Host: denied.example:443"], 403, "http_request_denied"),
        ("OPTIONS * HTTP/1.1", ["Host: a.example"], 200, nil),
        ("OPTIONS http://a.example/ HTTP/1.1", ["Host: a.example", "Max-Forwards: 0"], 200, nil),
        ("TRACE http://a.example/ HTTP/1.1", ["Host: a.example", "Max-Forwards: 0"], 405, "http_request_denied"),
        ("GET http://127.0.0.1:1/ HTTP/1.1", ["Host: 127.0.0.1:1", "Max-Forwards: 0"], 502, "connection_refused"),
        ("GET http://127.0.0.1:1/ HTTP/1.0", [], 502, "connection_refused"),
        ("CONNECT 127.0.0.1:1 HTTP/1.0", [], 502, "connection_refused"),
        ("CONNECT 127.0.0.1:1 HTTP/1.1", ["Host: 127.0.0.1:1", "Content-Length: 3"], 400, "http_request_error"),
    ]

    @Test func `each form, scheme and destination is sent where it belongs`() async throws {
        let proxy = try RunningProxy(try servicePolicy(Self.rules))
        for (line, fields, status, error) in Self.cases {
            let head = ([line] + fields + ["Connection: close", "Proxy-Connection: close"]).joined(separator: "\r\n")
            let answer = try await proxy.answer(to: head + "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(line): \(answer)")
            if let error { #expect(answer.contains("Proxy-Status: attache; error=\(error);"), "\(line): \(answer)") }
        }
    }

    @Test func `a request that was here before runs in a circle`() async throws {
        let proxy = try RunningProxy(try servicePolicy())
        let fields = "Host: a.example\r\nVia: 1.1 other, 1.1 \(Via.pseudonym)\r\nConnection: close\r\n\r\n"
        let answer = try await proxy.answer(to: "GET http://a.example/ HTTP/1.1\r\n\(fields)")
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
        #expect(answer.contains("error=proxy_loop_detected"))
    }

    @Test func `clients from elsewhere are not served`() async throws {
        let proxy = try RunningProxy(try servicePolicy(clients: "allow 192.0.2.1"))
        let answer = try await proxy.answer(to: "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 "))
    }

    @Test func `pipelined requests are answered in their order, refusals too`() async throws {
        let proxy = try RunningProxy(try servicePolicy(Self.rules))
        let requests = [
            "GET http://denied.example/ HTTP/1.1\r\nHost: denied.example\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: 5\r\n\r\nGET h",
            "BROKEN\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        ]
        let answer = try await proxy.answer(to: requests.joined())
        let statuses = answer.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
        #expect(statuses == ["403", "200", "502", "400"])
    }
}
