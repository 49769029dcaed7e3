import Testing

@testable import Upstream

struct SOCKS4RequestTests {
    private func reply(_ bytes: [UInt8]) throws(SOCKSError) -> Int? { try SOCKS4Request.reply(bytes.span) }

    @Test func `a name stands behind an address that is none`() throws {
        #expect(
            try SOCKS4Request.bytes(host: "a.b", port: 443) == [4, 1, 1, 187, 0, 0, 0, 1, 0, 0x61, 0x2E, 0x62, 0])
        #expect(try SOCKS4Request.bytes(host: "10.0.0.7", port: 80) == [4, 1, 0, 80, 10, 0, 0, 7, 0])
        #expect(throws: SOCKSError.hostTooLong) {
            try SOCKS4Request.bytes(host: String(repeating: "x", count: 256), port: 80)
        }
    }

    @Test func `a reply grants, refuses or is none`() throws {
        let granted: [UInt8] = [0, 90, 0, 80, 127, 0, 0, 1]
        for count in 0..<8 { #expect(try reply(Array(granted[..<count])) == nil) }
        #expect(try reply(granted + [1]) == 8)
        #expect(throws: SOCKSError.refused(code: 91)) { try reply([0, 91]) }
        #expect(throws: SOCKSError.malformed) { try reply([0x48, 0x54]) }
    }
}
