import Foundation
import TestSupport
import Testing

/// `listen … proxy-protocol from`: clients behind a load balancer.
struct BalancerTests {
    private func listening(
        _ words: String = "proxy-protocol from 127.0.0.0/8", rules: String = "",
        _ body: (AttacheProcess, _ port: UInt16) throws -> Void
    ) throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        var setting = AttacheProcess.Setting(threads: 1)
        setting.clients = "allow 127.0.0.0/8 192.0.2.0/24 2001:db8::/32"
        try AttacheProcess.running("listen 127.0.0.1:\(port) \(words)\n\(rules)", setting: setting) {
            try body($0, port)
        }
    }

    private static let first = "PROXY TCP4 192.0.2.7 127.0.0.1 4000 80\r\n"

    private static func second(_ address: [UInt8]) -> [UInt8] {
        [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12] + address
            + [127, 0, 0, 1, 0x0F, 0xA0, 0, 80]
    }

    @Test func `curl's header is read, and rules know the address in it`() throws {
        let origin = try GuardedOrigin(.basic)
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; port \(origin.origin.port); client 192.0.2.7; use web }
            """
        try listening(rules: rules) { proxy, port throws in
            // curl names itself.
            let own = try Curl.fetch(origin.origin.url(), ["-x", "http://127.0.0.1:\(port)", "--haproxy-protocol"])
            #expect(own.status == 401, "\(own)")
            let request = "GET \(origin.origin.url()) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            let heads = [Array(Self.first.utf8), Self.second([192, 0, 2, 7])]
            for head in heads {
                let wire = try Wire(to: port)
                // In pieces.
                try wire.send(Array(head.prefix(5)))
                try wire.send(Array(head.dropFirst(5)) + Array(request.utf8))
                #expect(try wire.readResponse().status == 200)
            }
            #expect(try proxy.records(atLeast: 3).map { $0["client"] } == ["127.0.0.1", "192.0.2.7", "192.0.2.7"])
        }
    }

    @Test func `a connection without a header, with a bad one, or from elsewhere is closed`() throws {
        let origin = try RecordingOrigin.answering()
        try listening(rules: "timeouts { head 1s }") { proxy, port throws in
            let request = "GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            let heads = [request, "PROXY TCP4 192.0.2.7 127.0.0.1 4000 99999\r\n" + request, "", "PROXY TCP4 192"]
            for head in heads {
                let wire = try Wire(to: port)
                try wire.send(head)
                #expect(try wire.readToEnd().isEmpty, "\(head)")
            }
            // The header is followed by another one, which is no request.
            let wire = try Wire(to: port)
            try wire.send(Self.first + Self.first + request)
            #expect(try wire.readResponse().status == 400)
            // The client's own address counts.
            let stranger = try Wire(to: port)
            try stranger.send(Self.first.replacing("192.0.2.7", with: "198.51.100.1") + request)
            #expect(try stranger.readResponse().status == 403)
            #expect(origin.messages.isEmpty)
        }
        try listening("proxy-protocol from 10.0.0.0/8") { _, port throws in
            let wire = try Wire(to: port)
            try? wire.send(Self.first)
            #expect(try wire.readToEnd().isEmpty)
        }
    }

    @Test func `clients of one balancer are counted one by one`() throws {
        let origin = try RecordingOrigin.answering()
        try listening(rules: "limits { clients-per-address 2 }") { proxy, port throws in
            let request = "GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            var wires: [Wire] = []
            for last in [7, 7, 8, 8] as [UInt8] {
                let wire = try Wire(to: port)
                try wire.send(Self.second([192, 0, 2, last]) + Array(request.utf8))
                #expect(try wire.readResponse().status == 200)
                wires.append(wire)
            }
            // A third connection of the first client takes the place of its oldest.
            let third = try Wire(to: port)
            try third.send(Self.second([192, 0, 2, 7]) + Array(request.utf8))
            #expect(try third.readResponse().status == 200)
            #expect(try wires[0].readToEnd().isEmpty)
            #expect(try proxy.metric("attache_clients_displaced_total") == 1)
        }
    }

    private static let hasHAProxy = (try? Finished.run("haproxy", ["-v"]).succeeded) == true

    @Test(
        .enabled(if: hasHAProxy, "haproxy is not installed"),
        arguments: ["send-proxy", "send-proxy-v2", "send-proxy-v2 check check-send-proxy inter 100ms"])
    func `HAProxy passes on clients in clear, with TLS and with SOCKS`(words: String) throws {
        let origin = try RecordingOrigin.answering()
        let front = FreePort.take()
        defer { FreePort.release(front) }
        for tls in [false, true] {
            let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
            let listener =
                "proxy-protocol from 127.0.0.1 socks"
                + (tls ? " tls certificate \(try identity.chain()) key \(identity.key)" : "")
            try listening(listener) { proxy, port throws in
                let path = proxy.folder + "/haproxy.cfg"
                try Scratch.write(
                    """
                    defaults
                        mode tcp
                        timeout connect 5s
                        timeout client 60s
                        timeout server 60s
                    listen front
                        bind 127.0.0.1:\(front)
                        server proxy 127.0.0.1:\(port) \(words)

                    """, to: path)
                let balancer = try Subprocess("haproxy", ["-f", path], directory: proxy.folder)
                defer { _ = balancer.kill() }
                try Socket.awaitListener(on: front, of: balancer)
                let way = tls ? "https://localhost:\(front)" : "http://127.0.0.1:\(front)"
                let options = ["-x", way, "--proxy-cacert", try Hierarchy.shared().root.certificate]
                #expect(try Curl.fetch(origin.url(), options).text == "ok")
                if !tls {
                    let fetched = try Curl.fetch(origin.url(), ["--socks5", "127.0.0.1:\(front)"])
                    #expect(fetched.text == "ok", "\(fetched)")
                }
                #expect(try proxy.records(atLeast: 1).allSatisfy { $0["client"] == "127.0.0.1" })
            }
        }
    }
}
