import Bytes
import HTTP
import Model
import Rules
import TestPolicies
import Testing

@testable import Upstream

/// A request is sent to the server that it is for, even if a loop has forgotten entries meanwhile.
struct DestinationPropertyTests {
    /// Every kind of route, to hosts that are asked for by every scheme.
    private static let rules = """
        parent corp { http p1:1 p2:2; except *.local }
        parent tor { socks5 p3:3 }
        route upgraded-*.example { upgrade }
        route *.upgraded-8443.example { upgrade 8443 }
        route upgraded-via-*.example.net { upgrade; via corp direct }
        route relayed-*.example { via corp }
        route tunnelled-*.example { via tor direct }
        route denied-*.example { deny }
        route intercepted-*.example { intercept }
        """

    /// Hosts, in two parts with a number between them.
    private static let kinds = [
        ("upgraded-", ".example"), ("www-", ".upgraded-8443.example"), ("upgraded-via-", ".example.net"),
        ("relayed-", ".example"), ("tunnelled-", ".example"), ("denied-", ".example"), ("intercepted-", ".example"),
        ("plain-", ".example"), ("10.0.0.", ""), ("fd00::1:", ""),
    ]

    /// xorshift64*, so that a failure can be seen again.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 0x2545_F491_4F6C_DD1D
        }
    }

    private static func spelling(of host: String, using generator: inout Generator) -> String {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return host
        case 1: return host.uppercased()
        case _ where host.hasPrefix("10."): return "::ffff:\(host)"
        case _ where host.hasPrefix("fd00:"): return host.replacing("::", with: ":0::0:")
        default: return host + "."
        }
    }

    /// Returns the destination of such a request by the rules of this test.
    private static func expected(_ scheme: Scheme, _ host: String, _ port: UInt16) -> (scheme: Scheme, port: UInt16) {
        guard scheme == .http, host.contains("upgraded-") else { return (scheme, port) }
        if host.contains(".upgraded-8443.") { return (.https, 8443) }
        return (.https, port == 80 ? 443 : port)
    }

    @Test(arguments: [1, 2, 3, 7, 64], [1, 2, 3] as [UInt64])
    func `no request has another server's destination, whatever was forgotten`(limit: Int, seed: UInt64) throws {
        let rules = [try policy(Self.rules).rules, try policy(Self.rules).rules]
        var table = OriginTable(idleLimit: 8, limit: limit)
        var generator = Generator(state: seed &* 0x9E37_79B9_7F4A_7C15)
        for _ in 0..<4000 {
            let number = Int.random(in: 0..<limit * 2 + 3, using: &generator)
            guard
                let host = Self.kinds.randomElement(using: &generator).map({ "\($0)\(number)\($1)" }),
                let scheme = [Scheme.http, .http, .https, .ftp].randomElement(using: &generator),
                let port = [80, 443, 8080].randomElement(using: &generator).map({ UInt16($0) }),
                let rules = rules.randomElement(using: &generator)
            else { continue }
            let asked = Self.spelling(of: host, using: &generator)
            let destination = table.destination(scheme, host: asked.utf8Span.span, port: port, by: rules)
            let expected = Self.expected(scheme, host, port)
            let origin = destination.origin
            try #require(
                origin.hostText == host && origin.scheme == expected.scheme && origin.port == expected.port
                    && destination.rules === rules && (destination.upgrade != nil) == (expected.scheme != scheme),
                "\(scheme) \(host) \(port) goes to \(origin.scheme) \(origin.hostText) \(origin.port)")
            try #require((destination.route.action == .deny) == host.hasPrefix("denied-"))
        }
    }
}
