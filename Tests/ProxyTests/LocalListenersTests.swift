import Bytes
import DNS
import Glibc
import HTTP
import IO
import Rules
import TestPolicies
import TestSupport
import Testing
import Transport

@testable import Proxy
@testable import Telemetry
@testable import Upstream

/// The proxy's own listeners are never a destination, under any rules.
struct LocalListenersTests {
    private static func address(_ text: String, _ port: UInt16) throws -> SocketAddress {
        SocketAddress(try #require(IPAddress(text)), port: port)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "::ffff:127.0.0.1", true), ("127.0.0.1", "0.0.0.0", true),
        ("127.0.0.1", "127.0.0.2", false), ("127.0.0.1", "192.0.2.1", false), ("127.0.0.1", "::1", false),
        ("127.0.0.1", "64:ff9b::7f00:1", true), ("10.1.2.3", "2002:a01:203::1", true),
        ("10.1.2.3", "64:ff9b::a01:204", false), ("::1", "::1", true), ("::1", "::", true), ("::1", "127.0.0.1", false),
        ("0.0.0.0", "127.0.0.1", true), ("0.0.0.0", "127.9.9.9", true), ("0.0.0.0", "0.0.0.0", true),
        ("0.0.0.0", "::ffff:127.9.9.9", true), ("0.0.0.0", "192.0.2.1", false), ("0.0.0.0", "::1", false),
        ("::", "::1", true), ("::", "::", true), ("::", "127.0.0.1", false), ("::", "2001:db8::1", false),
        ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "::ffff:10.1.2.3", true), ("10.1.2.3", "127.0.0.1", false),
    ])
    func `an address leads to a listener as the system would connect it`(
        bound: String, asked: String, expected: Bool
    ) throws {
        let own = LocalListeners()
        own.add([try Self.address(bound, 3128)], as: .proxy)
        let address = try #require(IPAddress(asked))
        #expect((own.kind(at: address, port: 3128) != nil) == expected)
        #expect(own.kind(at: address, port: 3129) == nil)
    }

    @Test func `a listener at the unspecified address is at every address of the machine`() throws {
        var list: UnsafeMutablePointer<ifaddrs>?
        #expect(getifaddrs(&list) == 0)
        defer { freeifaddrs(list) }
        let own = LocalListeners()
        own.add([try Self.address("0.0.0.0", 3128), try Self.address("::", 3128)], as: .proxy)
        var next = list
        while let one = next {
            next = one.pointee.ifa_next
            // What is link-local is of no use without its interface.
            guard let name = one.pointee.ifa_addr, let found = SocketAddress(system: name),
                found.address.high >> 54 != 0xFE80 >> 6, one.pointee.ifa_flags & UInt32(IFF_UP) != 0
            else { continue }
            #expect(own.kind(at: found.address, port: 3128) == .proxy, "\(found)")
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::ffff:127.0.0.1", "0.0.0.0", "::1", "::"])
    func `an own listener is not dialled, though the rules allow it and though they are not asked`(
        host: String
    ) async throws {
        let policy = try policy(egress: "allow loopback unspecified any; connect-ports any")
        let port = LoopbackPort.take()
        let addresses = try ["127.0.0.1", "::1"].map { try Self.address($0, port) }
        for (kind, isJudged, isForPractice, expected) in [
            (LocalListeners.Kind.proxy, true, true, ProxyError.proxyLoopDetected),
            (.proxy, false, false, .proxyLoopDetected), (.admin, true, false, .destinationIPProhibited),
            (.admin, false, false, .destinationIPProhibited), (.admin, true, true, .connectionRefused),
        ] {
            let found = try await onLoop { loop -> ProxyError? in
                let own = LocalListeners()
                own.add(addresses, as: kind)
                let dialer = Dialer(
                    network: SystemNetwork(Resolver(on: loop), on: loop), policy: policy, own: own, loop: loop,
                    wakeup: Wakeup())
                do throws(Refusal) {
                    try await dialer.connect(
                        host: host, port: port, isJudged: isJudged, isForPractice: isForPractice
                    ).close()
                    return nil
                } catch { return error.error }
            }
            #expect(found == expected, "\(kind) \(isJudged) \(isForPractice)")
        }
    }

    /// The rules, and what is asked for, with the proxy's own port in the place of `$`.
    private static let circles = [
        ("", "GET http://127.0.0.1:$/ HTTP/1.1\r\nHost: 127.0.0.1:$"),
        ("", "GET http://localhost:$/practice/basic HTTP/1.1\r\nHost: localhost:$"),
        ("", "GET http://[::ffff:127.0.0.1]:$/ HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:$"),
        ("", "GET http://0.0.0.0:$/ HTTP/1.1\r\nHost: 0.0.0.0:$"),
        ("", "GET https://127.0.0.1:$/ HTTP/1.1\r\nHost: 127.0.0.1:$"),
        ("", "GET ftp://127.0.0.1:$/ HTTP/1.1\r\nHost: 127.0.0.1:$"),
        ("", "CONNECT 127.0.0.1:$ HTTP/1.1\r\nHost: 127.0.0.1:$"),
        ("", "CONNECT localhost:$ HTTP/1.1\r\nHost: localhost:$"),
        ("route * { intercept }", "CONNECT 127.0.0.1:$ HTTP/1.1\r\nHost: 127.0.0.1:$"),
        ("route * { upgrade }", "GET http://127.0.0.1:$/ HTTP/1.1\r\nHost: 127.0.0.1:$"),
        ("parent self { http 127.0.0.1:$ }\nroute * { via self }", "GET http://a.example/ HTTP/1.1\r\nHost: a.example"),
        ("parent self { http localhost:$ }\nroute * { via self }", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example"),
        (
            "parent self { socks5 127.0.0.1:$ }\nroute * { via self }",
            "GET http://a.example/ HTTP/1.1\r\nHost: a.example"
        ),
        ("parent p { http 127.0.0.1:1 }\nroute * { via p }", "GET http://127.0.0.1:$/ HTTP/1.1\r\nHost: 127.0.0.1:$"),
    ]

    @Test func `every way to the proxy itself is refused as a loop, and no connection is made`() async throws {
        let egress = "allow 127.0.0.0/8 unspecified; connect-ports any"
        let proxy = try RunningProxy(try servicePolicy(egress: egress))
        let port = "\(try #require(proxy.server.addresses.first).port)"
        var asked = 0
        for (rules, request) in Self.circles {
            proxy.server.adopt(try servicePolicy(rules.replacing("$", with: port), egress: egress))
            let head = request.replacing("$", with: port)
            let answer = try await proxy.answer(to: head + "\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n")
            asked += 1
            #expect(answer.hasPrefix("HTTP/1.1 502 "), "\(request): \(answer)")
            #expect(answer.contains("error=proxy_loop_detected;"), "\(request): \(answer)")
        }
        #expect(proxy.server.metrics.reduce(0) { $0 + $1.value(of: .clientsAccepted) } == asked)
    }
}
