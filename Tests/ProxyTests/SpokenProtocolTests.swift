import Testing

@testable import Proxy

struct SpokenProtocolTests {
    private static let clientHello: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03]

    static let cases: [(String, [UInt8], SpokenProtocol)] = [
        ("TLS 1.2 and 1.3", clientHello, .tls),
        ("a record of TLS 1.3 in its own version", [0x16, 0x03, 0x04, 0x00, 0x04, 0x01], .tls),
        ("the largest record", [0x16, 0x03, 0x01, 0x40, 0x00, 0x01], .tls),
        ("a record that is too large", [0x16, 0x03, 0x01, 0x40, 0x01, 0x01], .other),
        ("an empty record", [0x16, 0x03, 0x01, 0x00, 0x00, 0x01], .other),
        ("a ServerHello", [0x16, 0x03, 0x01, 0x02, 0x00, 0x02], .other),
        ("a later major version", [0x16, 0x04, 0x01, 0x02, 0x00, 0x01], .other),
        ("SSL 2", [0x80, 0x2E, 0x01, 0x03, 0x01], .other),
        ("origin-form", Array("GET / HTTP/1.1\r\n".utf8), .http),
        ("absolute-form", Array("POST http://a.example/ HTTP/1.1\r\n".utf8), .http),
        ("absolute-form of https, in capitals", Array("GET HTTPS://a.example/ HTTP/1.1\r\n".utf8), .http),
        ("asterisk-form", Array("OPTIONS * HTTP/1.1\r\n".utf8), .http),
        ("a long registered method", Array("UPDATEREDIRECTREF /a HTTP/1.1\r\n".utf8), .http),
        ("a method with a hyphen", Array("VERSION-CONTROL /a HTTP/1.1\r\n".utf8), .http),
        ("HTTP/2 in clear", Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), .http2),
        ("HTTP/3 in clear", Array("PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n".utf8), .other),
        ("the method of the preface", Array("PRI /a HTTP/1.1\r\n".utf8), .http),
        ("RTSP", Array("DESCRIBE rtsp://a.example/ RTSP/1.0\r\n".utf8), .other),
        ("SIP", Array("REGISTER sip:a.example SIP/2.0\r\n".utf8), .other),
        ("SSH", Array("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".utf8), .other),
        ("SMTP", Array("HELO host.example\r\n".utf8), .other),
        ("IRC", Array("NICK name\r\n".utf8), .other),
        ("Redis", Array("*1\r\n$4\r\nPING\r\n".utf8), .other),
        ("a method in small letters", Array("get / HTTP/1.1\r\n".utf8), .other),
        ("no method", Array(" / HTTP/1.1\r\n".utf8), .other),
        ("a method without end", Array(repeating: UInt8(ascii: "A"), count: 64), .other),
        ("a zero", [0], .other),
    ]

    @Test(arguments: cases)
    func `the first bytes tell, however they are cut`(name: String, bytes: [UInt8], expected: SpokenProtocol) {
        #expect(SpokenProtocol.told(by: bytes.span) == expected)
        var told: SpokenProtocol?
        for count in 0...bytes.count {
            let prefix = Array(bytes[..<count])
            let now = SpokenProtocol.told(by: prefix.span)
            if let told { #expect(now == told, "a verdict was changed by the \(count)th byte") }
            told = now
        }
        #expect(told == expected)
    }

    @Test(arguments: cases)
    func `it does not take many bytes`(name: String, bytes: [UInt8], expected: SpokenProtocol) {
        let first = Array(bytes.prefix(32))
        #expect(SpokenProtocol.told(by: first.span) == expected)
    }

    @Test func `nothing tells nothing`() {
        #expect(SpokenProtocol.told(by: [UInt8]().span) == nil)
    }
}
