import Bytes
import Testing

@testable import Proxy

struct BalancerHeaderTests {
    private func header(_ bytes: some Sequence<UInt8>) -> BalancerHeader {
        let bytes = Array(bytes)
        return BalancerHeader(bytes.span)
    }

    /// Reads the header with all that may follow it, and checks that each shorter beginning is incomplete.
    private func read(_ bytes: [UInt8]) -> BalancerHeader {
        let whole = header(bytes)
        if case .complete(let length, _) = whole {
            for count in 0..<length { #expect(header(bytes.prefix(count)) == .incomplete) }
        }
        #expect(header(bytes + Array("GET / HTTP/1.1\r\n".utf8)) == whole)
        return whole
    }

    private func read(_ text: String) -> BalancerHeader { read(Array(text.utf8)) }

    @Test func `version 1 names the client by its address`() throws {
        let line = "PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\r\n"
        #expect(read(line) == .complete(length: line.utf8.count, client: IPAddress("192.0.2.7")))
        let six = "PROXY TCP6 2001:db8::7 ::1 0 65535\r\n"
        #expect(read(six) == .complete(length: six.utf8.count, client: IPAddress("2001:db8::7")))
        let longest = "PROXY UNKNOWN " + String(repeating: "x", count: 91) + "\r\n"
        #expect(longest.utf8.count == 107 && read(longest) == .complete(length: 107, client: nil))
        #expect(read("PROXY UNKNOWN\r\n") == .complete(length: 15, client: nil))
    }

    @Test(arguments: [
        "PROXY TCP4 192.0.2.7 10.0.0.1 56324\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 56324 443 1\r\n",
        "PROXY TCP4  192.0.2.7 10.0.0.1 56324 443\r\n", "PROXY TCP4 ::1 ::1 1 1\r\n",
        "PROXY TCP6 127.0.0.1 ::1 1 1\r\n",
        "PROXY TCP4 192.0.2.7 10.0.0.1 65536 443\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 +1 443\r\n",
        "PROXY TCP4 192.0.2.7 10.0.0.1 01 443\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 1 443\n",
        "PROXY UDP4 1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY \r\n", "PROXY\r\n", "proxy UNKNOWN\r\n", "GET / HTTP/1.1\r\n", "\u{5}\u{1}\u{0}",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 1 " + String(repeating: " ", count: 200),
    ])
    func `any other line is malformed`(line: String) {
        #expect(header(line.utf8) == .malformed)
    }

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let four: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0xDC, 4, 1, 0xBB]

    @Test func `version 2 names the client, and its extensions are passed over`() throws {
        #expect(
            read(Self.signature + [0x21, 0x11, 0, 12] + Self.four)
                == .complete(length: 28, client: IPAddress("192.0.2.7")))
        let extended = Self.four + [4, 0, 2, 1, 2]
        #expect(
            read(Self.signature + [0x21, 0x11, 0, 17] + extended)
                == .complete(length: 33, client: IPAddress("192.0.2.7")))
        let six: [UInt8] =
            [0x20, 1, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [7] + Array(repeating: 0, count: 20)
        #expect(
            read(Self.signature + [0x21, 0x21, 0, 36] + six)
                == .complete(length: 52, client: IPAddress("2001:db8::7")))
        // LOCAL, an unspecified family, a unix socket.
        #expect(read(Self.signature + [0x20, 0, 0, 0]) == .complete(length: 16, client: nil))
        #expect(read(Self.signature + [0x20, 0x11, 0, 12] + Self.four) == .complete(length: 28, client: nil))
        #expect(read(Self.signature + [0x21, 0, 0, 0]) == .complete(length: 16, client: nil))
        #expect(
            read(Self.signature + [0x21, 0x31, 0, 216] + Array(repeating: 0, count: 216))
                == .complete(length: 232, client: nil))
    }

    @Test func `another version, command, family or length is malformed`() {
        let heads: [[UInt8]] = [
            [0x11, 0x11, 0, 12], [0x22, 0x11, 0, 12], [0x21, 0x12, 0, 12], [0x21, 0x11, 0, 11], [0x21, 0x21, 0, 12],
            [0x21, 0x11, 0x10, 1],
        ]
        for head in heads {
            let bytes = Self.signature + head + Self.four
            #expect(header(bytes) == .malformed, "\(head)")
        }
        #expect(header(Self.signature.dropLast() + [0]) == .malformed)
    }
}
