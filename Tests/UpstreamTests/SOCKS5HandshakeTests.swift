import Bytes
import Crypto
import Testing

@testable import Upstream

struct SOCKS5HandshakeTests {
    private func receive(
        _ handshake: inout SOCKS5Handshake, _ bytes: [UInt8]
    ) throws(SOCKSError) -> SOCKS5Handshake.Step {
        try handshake.receive(bytes.span)
    }

    @Test func `a server without a password is asked at once`() throws {
        #expect(SOCKS5Handshake.greeting(offersPassword: false) == [5, 1, 0])
        var handshake = SOCKS5Handshake.awaitingMethod(offersPassword: false)
        #expect(try receive(&handshake, [5]) == .needsMore)
        #expect(try receive(&handshake, [5, 0]) == .request(consumed: 2))
        // RFC 1928 section 6, with an address of each type; what stands behind is the origin's.
        let replies: [[UInt8]] = [
            [5, 0, 0, 1, 127, 0, 0, 1, 0, 80], [5, 0, 0, 3, 3, 0x61, 0x2E, 0x62, 0, 80],
            [5, 0, 0, 4] + Array(repeating: 0, count: 15) + [1, 0, 80],
        ]
        for reply in replies {
            for count in 2..<reply.count {
                var partial = handshake
                #expect(try receive(&partial, Array(reply[..<count])) == .needsMore)
                #expect(partial == .awaitingReply)
            }
            var whole = handshake
            #expect(try receive(&whole, reply + [0x53, 0x53, 0x48]) == .open(consumed: reply.count))
            #expect(whole == .open)
        }
    }

    @Test func `a password goes where it is wanted`() throws {
        #expect(SOCKS5Handshake.greeting(offersPassword: true) == [5, 2, 0, 2])
        var handshake = SOCKS5Handshake.awaitingMethod(offersPassword: true)
        #expect(try receive(&handshake, [5, 2]) == .password(consumed: 2))
        #expect(try receive(&handshake, [1, 0]) == .request(consumed: 2))
    }

    @Test func `each refusal is told from the others`() {
        let cases: [(SOCKS5Handshake, [UInt8], SOCKSError)] = [
            (.awaitingMethod(offersPassword: true), [5, 0xFF], .noAcceptableMethod),
            (.awaitingMethod(offersPassword: false), [5, 2], .malformed),
            (.awaitingMethod(offersPassword: true), [5, 1], .malformed),
            (.awaitingMethod(offersPassword: true), Array("HT".utf8), .malformed),
            (.awaitingVerdict, [1, 1], .passwordRefused),
            (.awaitingVerdict, [5, 0xFF], .passwordRefused),
            (.awaitingVerdict, Array("HT".utf8), .malformed),
            (.awaitingReply, [5, 5], .refused(code: 5)),
            (.awaitingReply, [4, 0], .malformed),
            (.awaitingReply, [5, 0, 0, 9, 0], .malformed),
        ]
        for (state, bytes, error) in cases {
            var handshake = state
            #expect(throws: error) { try receive(&handshake, bytes) }
        }
    }

    @Test func `names are sent as they are, addresses as addresses`() throws {
        #expect(try SOCKS5Handshake.request(host: "a.b", port: 443) == [5, 1, 0, 3, 3, 0x61, 0x2E, 0x62, 1, 187])
        #expect(try SOCKS5Handshake.request(host: "10.0.0.7", port: 80) == [5, 1, 0, 1, 10, 0, 0, 7, 0, 80])
        let six = try SOCKS5Handshake.request(host: "2001:db8::1", port: 80)
        #expect(six == [5, 1, 0, 4, 0x20, 1, 0xD, 0xB8] + Array(repeating: 0, count: 11) + [1, 0, 80])
    }

    @Test func `a message that has no room is not sent cut off`() {
        let long = String(repeating: "x", count: 256)
        #expect(throws: SOCKSError.hostTooLong) { try SOCKS5Handshake.request(host: long, port: 80) }
    }
}
