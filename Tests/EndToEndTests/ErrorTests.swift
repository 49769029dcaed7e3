import Foundation
import Testing

/// Every error the proxy makes itself has the right status, a `Proxy-Status` (RFC 9209) and a sentence for people.
struct ErrorTests {
    private func expect(
        _ answered: Message, _ statuses: Set<Int>, error: String, location: SourceLocation = #_sourceLocation
    ) {
        #expect(statuses.contains(answered.status), "\(answered.head)\(answered.text)", sourceLocation: location)
        let status = answered["Proxy-Status"] ?? ""
        #expect(status.contains("error=") && status.contains(error), "\(status)", sourceLocation: location)
        #expect(answered["Content-Type"]?.hasPrefix("text/plain") == true, sourceLocation: location)
        #expect(answered.text.split(separator: " ").count > 3, "\(answered.text)", sourceLocation: location)
        for inner in ["Swift", "Error(", "errno", "/Sources/", "0x"] {
            #expect(!answered.text.contains(inner), "\(answered.text)", sourceLocation: location)
        }
    }

    private func request(_ port: UInt16, _ path: String = "/", fields: String = "") -> String {
        "GET http://127.0.0.1:\(port)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(fields)\r\n"
    }

    @Test func `nothing listens at the origin`() throws {
        try AttacheProcess.running { proxy throws in
            let answered = try proxy.exchange(request(FreePort.take()))
            expect(answered, [502], error: "connection_refused")
            let record = try #require(try proxy.records().first)
            #expect(record.status == 502)
            #expect(record["error"] == "connection_refused")
        }
    }

    @Test func `the origin's name is unknown`() throws {
        try AttacheProcess.running("timeouts { connect 5s }") { proxy throws in
            let host = "no-such-host.invalid"
            let answered = try proxy.exchange("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            expect(answered, [502, 504], error: "dns_")
        }
    }

    @Test func `a name of the hosts file is resolved`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(egress: "allow 127.0.0.0/8 ::1; connect-ports any")) { proxy throws in
            #expect(try proxy.get("http://localhost:\(origin.port)/").status == 200)
            #expect(origin.messages.first?["Host"] == "localhost:\(origin.port)")
        }
    }

    @Test func `the environment names another hosts file`() throws {
        let origin = try RecordingOrigin.answering()
        let hosts = Scratch.folder("hosts") + "/hosts"
        try Scratch.write("127.0.0.1 named.example.test\n", to: hosts)
        try AttacheProcess.running(setting: .init(environment: ["CARES_HOSTS": hosts])) { proxy throws in
            #expect(try proxy.get("http://named.example.test:\(origin.port)/").status == 200)
            #expect(origin.messages.first?["Host"] == "named.example.test:\(origin.port)")
        }
    }

    @Test(arguments: ["deny loopback", "deny 127.0.0.0/8"])
    func `egress denies an address, however it is written`(egress: String) throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(egress: "\(egress); connect-ports any")) { proxy throws in
            expect(try proxy.exchange(request(origin.port)), [403], error: "destination_ip_prohibited")
            for host in ["localhost", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]"] {
                let authority = "\(host):\(origin.port)"
                let answered = try proxy.exchange("GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                #expect(answered.status >= 400, "\(host)")
            }
            let tunnel = "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
            #expect(try proxy.exchange(tunnel, method: "CONNECT").status == 403)
            #expect(origin.connections == 0)
        }
    }

    @Test func `CONNECT reaches only the ports that are allowed`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(egress: "allow 127.0.0.0/8; connect-ports 443")) { proxy throws in
            let tunnel = "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
            expect(try proxy.exchange(tunnel, method: "CONNECT"), [403], error: "http_request_denied")
            #expect(try proxy.get(origin.url()).status == 200)
        }
    }

    @Test func `a client that is not allowed is refused`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(clients: "allow 10.0.0.0/8")) { proxy throws in
            expect(try proxy.exchange(request(origin.port)), [403], error: "http_request_denied")
            #expect(origin.connections == 0)
        }
    }

    @Test func `a target that is too long is refused with 414`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let long = "/" + String(repeating: "a", count: 17_000)
            expect(try proxy.exchange(request(origin.port, long)), [414], error: "http_request_error")
            let fitting = "/" + String(repeating: "a", count: 15_000)
            #expect(try proxy.exchange(request(origin.port, fitting)).status == 200)
        }
    }

    @Test func `a head that is too large is refused with 431`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let large = "X-A: \(String(repeating: "a", count: 70_000))\r\n"
            expect(try proxy.exchange(request(origin.port, fields: large)), [431], error: "http_request_error")
            let many = (1...200).map { "X-\($0): 1\r\n" }.joined()
            expect(try proxy.exchange(request(origin.port, fields: many)), [431], error: "http_request_error")
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `an origin's head may be larger than a client's, but not endless`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            let count = request.target == "/large" ? 150_000 : 400_000
            try connection.reply("200 OK", ["X-Ticket: " + String(repeating: "a", count: count)], "ok")
        }
        try AttacheProcess.running { proxy throws in
            #expect(try proxy.exchange(request(origin.port, "/large")).text == "ok")
            expect(
                try proxy.exchange(request(origin.port, "/endless")), [502], error: "http_response_header")
        }
    }
}
