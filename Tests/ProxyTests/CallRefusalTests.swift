import Bytes
import HTTP
import Testing

@testable import Proxy
@testable import Upstream

/// The proxy's refusals, as a client of gRPC reads them.
struct CallRefusalTests {
    @Test(arguments: [
        (401, 16), (407, 16), (403, 7), (413, 8), (429, 8), (431, 8), (504, 4), (502, 14), (503, 14), (400, 2),
        (408, 2),
        (421, 2), (500, 2), (501, 2),
    ])
    func `each status has a code`(status: UInt16, code: Int) {
        let refusal = Refusal(Status(rawValue: status), .connectionTerminated, "no")
        #expect(refusal.callCode.rawValue == code)
    }

    /// Clients repeat a call that is unavailable.
    @Test func `a login that is missing and a rule of a parent do not count as unavailable`() {
        var refusal = Refusal(.badGateway, .httpRequestDenied, "the origin asks for a login, but a rule refuses")
        #expect(refusal.callCode == .unauthenticated)
        refusal.receivedStatus = .forbidden
        #expect(refusal.callCode == .permissionDenied)
        var parent = Refusal(.badGateway, .proxyConfigurationError, "no rule has a login")
        parent.receivedStatus = .proxyAuthenticationRequired
        #expect(parent.callCode == .unauthenticated)
        parent.receivedStatus = .internalServerError
        #expect(parent.callCode == .unavailable)
    }

    @Test func `a source of credentials that cannot be reached counts as unavailable`() {
        var refusal = Refusal(.badGateway, .httpRequestDenied, "the origin asks for a token, but the endpoint is away")
        refusal.isTransient = true
        #expect(refusal.callCode == .unavailable)
        refusal.receivedStatus = .proxyAuthenticationRequired
        #expect(refusal.callCode == .unavailable)
    }

    @Test func `the response has no content, and its message is printable`() {
        var refusal = Refusal(.serviceUnavailable, .connectionLimitReached, "100 % \u{FC}ber\nthe limit")
        refusal.fields = [(name: "Retry-After", value: "1")]
        refusal.explanation = "This line would help."
        let buffer = ByteBuffer(capacity: 1024)
        refusal.writeToCall(into: buffer)
        let text = buffer.readable.text
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        for line in [
            "Retry-After: 1", "Content-Type: application/grpc", "Content-Length: 0", "grpc-status: 14",
            "grpc-message: 100 %25 %C3%BCber%0Athe limit",
        ] {
            #expect(text.contains("\r\n\(line)\r\n"), "\(text)")
        }
        #expect(text.contains("\r\nProxy-Status: "))
        #expect(!text.contains("would help"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }
}
