import HTTP
import Testing

@Suite struct ProxyStatusTests {
    @Test(arguments: [
        (ProxyStatus(proxy: "attache"), "attache"),
        (
            ProxyStatus(proxy: "attache", error: .dnsTimeout, details: "no answer", receivedStatus: 401),
            #"attache; error=dns_timeout; received-status=401; details="no answer""#
        ),
        (
            ProxyStatus(proxy: "a b", error: .proxyLoopDetected, details: "\"\\ä\r\n💥"),
            #""a b"; error=proxy_loop_detected; details="\"\\????""#
        ),
        (
            ProxyStatus(proxy: "attache", error: .tlsAlertReceived, alert: (40, "handshake failure")),
            #"attache; error=tls_alert_received; alert-id=40; alert-message="handshake failure""#
        ),
        (ProxyStatus(proxy: "1a"), "\"1a\""), (ProxyStatus(proxy: ""), "\"\""),
    ])
    func `the value is a structured field`(status: ProxyStatus, value: String) {
        #expect(status.value == value)
    }

    @Test func `an error says whose fault it is, in one sentence`() {
        let client = HTTPError(.client, .bareLineFeed)
        #expect(client.description == "the request is refused: a line ends with a line feed alone")
        #expect(client.status == .badRequest)
        #expect(client.proxyError == .httpRequestError)
        let upstream = HTTPError(.upstream, .headTooLarge(limit: 9))
        #expect(upstream.description == "the response is refused: the header section is larger than 9 bytes")
        #expect(upstream.status == .badGateway)
        #expect(upstream.proxyError == .httpResponseHeaderSectionSize)
        #expect(HTTPError(.upstream, .incomplete).proxyError == .httpResponseIncomplete)
        #expect(HTTPError(.upstream, .bareLineFeed).proxyError == .httpProtocolError)
    }

    @Test func `every status we send has a phrase`() {
        for code in [
            100, 400, 401, 403, 404, 405, 407, 408, 413, 414, 417, 421, 431, 500, 501, 502, 503, 504, 505, 508,
        ] {
            #expect(Status(rawValue: UInt16(code)).reason.utf8CodeUnitCount > 0)
        }
        #expect(Status.continue.isInterim)
        #expect(!Status.switchingProtocols.isInterim)
    }
}
