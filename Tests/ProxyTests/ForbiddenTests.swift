import Bytes
import Rules
import TestPolicies
import Testing

@testable import Proxy
@testable import Upstream

/// A client that the rules refuse gets the address, and the line that would permit it.
struct ForbiddenTests {
    @Test(arguments: [
        (
            "", "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1", "connect to 127.0.0.1 port 1",
            "allow 127.0.0.1:1"
        ),
        (
            "deny any", "GET http://localhost:1/ HTTP/1.1\r\nHost: localhost:1", "(127.0.0.1", "127.0.0.1:1"
        ),
        (
            "", "GET ftp://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1", "connect to 127.0.0.1 port 1",
            "allow 127.0.0.1:1"
        ),
        (
            "deny 127.0.0.1:1", "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1", "connect to 127.0.0.1 port 1",
            "denied by \"127.0.0.1:1\" (proxy.conf:4)"
        ),
        (
            "connect-ports 443 8443", "CONNECT a.example:22 HTTP/1.1\r\nHost: a.example:22", "to a.example port 22",
            "connect-ports 443 8443 22"
        ),
    ])
    func `a refused destination is named with the line that would allow it`(
        egress: String, request: String, place: String, line: String
    ) async throws {
        let proxy = try RunningProxy(try servicePolicy(egress: egress))
        let answer = try await proxy.answer(to: request + "\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 "))
        #expect(answer.contains(place) && answer.contains(line), "\(answer)")
    }

    @Test(arguments: [
        ("allow 192.0.2.1", "    allow 127.0.0.1\n"), ("", "    allow 127.0.0.0/8 ::1 127.0.0.1\n"),
    ])
    func `a client that is not served is told its address and the line that to allow it, add`(
        clients: String, line: String
    ) throws {
        let refusal = Refusal.client(
            at: IPAddress(v4: 0x7F00_0001), by: try policy(clients: clients).rules.clients)
        #expect(refusal.sentence.contains("127.0.0.1"))
        #expect(refusal.text.hasSuffix(line), "\(refusal.text)")
    }
}
