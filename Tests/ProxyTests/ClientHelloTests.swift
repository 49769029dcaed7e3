import Testing

@testable import Proxy

/// The name of a server in the first message of a TLS client.
struct ClientHelloTests {
    private static func sized(_ width: Int, _ content: [UInt8]) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: content.count >> ($0 * 8)) } + content
    }

    private static func name(_ host: String, kind: UInt8 = 0) -> [UInt8] {
        [0, 0] + sized(2, sized(2, [kind] + sized(2, Array(host.utf8))))
    }

    /// A record with a ClientHello that has these extensions.
    private static func hello(_ extensions: [UInt8]) -> [UInt8] {
        let head: [UInt8] =
            [3, 3] + Array(repeating: 7, count: 32) + sized(1, [1, 2]) + sized(2, [0x13, 1]) + sized(1, [0])
        return [22, 3, 1] + sized(2, [1] + sized(3, head + sized(2, extensions)))
    }

    private static func read(_ bytes: [UInt8]) -> String? { ClientHello(bytes.span).serverName }

    private static let padding: [UInt8] = [0, 21] + sized(2, [0, 0, 0])

    @Test(arguments: [
        ("example.com", "example.com"), ("CI.Example.com", "ci.example.com"), ("a.example.", "a.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("a_b", "a_b"),
    ])
    func `the name is read, whatever follows the record`(written: String, name: String) {
        let bytes = Self.hello(Self.padding + Self.name(written) + Self.padding)
        #expect(Self.read(bytes) == name)
        #expect(Self.read(bytes + [22, 3, 1, 0, 1, 1]) == name)
        for end in bytes.indices { #expect(Self.read(Array(bytes[..<end])) == nil) }
    }

    @Test(arguments: [
        "", "10.0.0.7", "::1", "[::1]", "a b", "a/b", "a\u{0}b", "münchen.example", "user@host", "host:80",
        String(repeating: "a", count: 254),
    ])
    func `what is no host name counts as none`(written: String) {
        #expect(Self.read(Self.hello(Self.name(written))) == nil)
    }

    @Test func `a hello that two programs could read differently has no name`() {
        #expect(Self.read(Self.hello([])) == nil)
        #expect(Self.read(Self.hello(Self.name("a.example") + Self.name("b.example"))) == nil)
        #expect(Self.read(Self.hello(Self.name("a.example", kind: 1))) == nil)
        let two = [0, 0] + Self.sized(2, Self.sized(2, [0] + Self.sized(2, [97]) + [0] + Self.sized(2, [98])))
        #expect(Self.read(Self.hello(two)) == nil)
        #expect(Self.read(Self.hello(Self.name("a.example") + [0, 1, 0])) == nil)
        // Not complete in its record.
        var bytes = Self.hello(Self.name("a.example"))
        bytes[8] += 1
        #expect(Self.read(bytes) == nil)
    }
}
