import HTTP
import IO
import TLS
import Testing
import Transport

@testable import Upstream

/// The client's response after a failed TLS handshake.
struct RefusalOfTLSTests {
    private static let cases: [(HandshakeError, HTTP.Status, ProxyError)] = [
        (.connection(.timedOut), .gatewayTimeout, .connectionTimeout),
        (.connection(.endOfStream), .badGateway, .connectionTerminated),
        (.tls(.truncated), .badGateway, .connectionTerminated),
        (.tls(.transport(errno: 104)), .badGateway, .connectionTerminated),
        (.tls(.alert(.handshakeFailure)), .badGateway, .tlsAlertReceived),
        (.tls(.identityWanted(.certificateRequired)), .badGateway, .tlsAlertReceived),
        (.tls(.peer(reason: "wrong version number")), .badGateway, .tlsProtocolError),
        (.tls(.serverChanged), .badGateway, .tlsCertificateError),
        (.tls(.trustRefused), .badGateway, .tlsCertificateError),
        (.tls(.unusableIdentity(reason: "ee key too small")), .internalServerError, .proxyConfigurationError),
        (.tls(.local(reason: "malloc failure")), .internalServerError, .proxyInternalError),
    ]

    @Test func `each failure has the error type of RFC 9209`() {
        for (failure, status, error) in Self.cases {
            let refusal = Refusal(failure, host: "a.example", port: 8443)
            #expect(refusal.status == status && refusal.error == error, "\(failure)")
            #expect(refusal.sentence.contains("a.example port 8443"), "\(refusal.sentence)")
        }
    }

    @Test func `an alert is told by number and name`() {
        let refusal = Refusal(.tls(.alert(.handshakeFailure)), host: "a.example", port: 443)
        #expect(refusal.alert == .handshakeFailure)
        #expect(refusal.explanation == nil)
    }

    @Test func `an origin that wants no HTTP/1.1 by ALPN is told as one that may speak only HTTP/2`() {
        let refusal = Refusal(.tls(.alert(.noApplicationProtocol)), host: "a.example", port: 443)
        #expect(refusal.alert == .noApplicationProtocol)
        #expect(refusal.status == .badGateway && refusal.error == .tlsAlertReceived)
        #expect(refusal.sentence.contains("a.example port 443 does not speak HTTP/1.1"))
        #expect(refusal.sentence.contains("only HTTP/2"))
    }
}
