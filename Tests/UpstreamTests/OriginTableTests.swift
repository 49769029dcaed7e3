import Bytes
import HTTP
import Model
import TestPolicies
import TestSupport
import Testing
import Transport

@testable import Upstream

struct OriginTableTests {
    private static func origin(
        _ table: inout OriginTable, _ host: String, _ port: UInt16 = 80, _ scheme: Scheme = .http
    ) -> UpstreamServer {
        table.origin(scheme, host: host.utf8Span.span, port: port)
    }

    @Test func `one host is one origin, in any case and with the dot of the root`() {
        var table = OriginTable(idleLimit: 8)
        let origin = Self.origin(&table, "Example.COM")
        #expect(origin.hostText == "example.com")
        for spelling in ["example.com", "EXAMPLE.com", "example.com."] {
            #expect(Self.origin(&table, spelling) === origin)
        }
    }

    @Test(arguments: [
        ("::1", ["[::1]", "0:0::1", "0:0:0:0:0:0:0:1", "::0.0.0.1"]),
        ("2001:db8::a", ["2001:DB8::A", "2001:db8:0::a"]),
        ("127.0.0.1", ["::ffff:127.0.0.1", "::FFFF:7f00:1", "0:0:0:0:0:ffff:127.0.0.1"]),
    ])
    func `one address is one origin, in any spelling`(address: String, spellings: [String]) throws {
        for first in [address] + spellings {
            var table = OriginTable(idleLimit: 8)
            let origin = Self.origin(&table, first)
            #expect(origin.hostText == address)
            let rules = try policy("").rules
            for spelling in [address] + spellings {
                #expect(Self.origin(&table, spelling) === origin, "\(spelling) after \(first)")
                let destination = table.destination(.http, host: spelling.utf8Span.span, port: 80, by: rules)
                #expect(destination.origin === origin, "\(spelling) after \(first)")
                let isFor = [spelling, "::2"].map { destination.isFor(.http, host: $0.utf8Span.span, port: 80) }
                #expect(isFor == [true, false])
            }
            #expect(table.count == 1)
        }
    }

    @Test func `another scheme, port or host is another origin`() {
        var table = OriginTable(idleLimit: 8)
        let origin = Self.origin(&table, "example.com")
        for (host, port) in [("example.com", 81), ("example.co", 80), ("example.comm", 80), ("xample.com", 80)] {
            #expect(Self.origin(&table, host, UInt16(port)) !== origin)
        }
        #expect(Self.origin(&table, "example.com", 80, .https) !== origin)
        #expect(Self.origin(&table, "example.com", 80, .https).isSecure)
        #expect(Self.origin(&table, ".").hostText == ".")
    }

    @Test func `it grows without losing any`() {
        var table = OriginTable(idleLimit: 8)
        let origins = (0..<3000).map { Self.origin(&table, "host\($0)") }
        for (number, origin) in origins.enumerated() { #expect(Self.origin(&table, "host\(number)") === origin) }
    }

    @Test func `beyond its limit it forgets what was asked for longest ago`() {
        var table = OriginTable(idleLimit: 8, limit: 3)
        let origins = ["a", "b", "c"].map { Self.origin(&table, $0) }
        #expect(Self.origin(&table, "a") === origins[0])
        _ = Self.origin(&table, "d")
        #expect(table.count == 3)
        #expect(Self.origin(&table, "a") === origins[0])
        #expect(Self.origin(&table, "c") === origins[2])
        #expect(Self.origin(&table, "b") !== origins[1])
    }

    @Test func `as long as connections to it wait, an origin is not forgotten, and then it is`() async throws {
        let found = try await onLoop { loop in
            var table = OriginTable(idleLimit: 8, limit: 3)
            let origin = Self.origin(&table, "kept")
            let stream = ByteStream(try await connectedPair(on: loop).0)
            origin.keep(OriginConnection(stream: stream, to: origin, under: .plain), for: 10_000)
            for number in 0..<100 { _ = Self.origin(&table, "host\(number)") }
            let isKept = Self.origin(&table, "kept") === origin
            table.pool.closeAll()
            for number in 0..<100 { _ = Self.origin(&table, "host\(number)") }
            return [isKept, Self.origin(&table, "kept") !== origin, table.count == 3]
        }
        #expect(found == [true, true, true])
    }
}
