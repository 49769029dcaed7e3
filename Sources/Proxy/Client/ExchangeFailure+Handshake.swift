import HTTP
import IO
import TLS
import Transport
import Upstream

extension ExchangeFailure {
    /// Why there is no TLS with a client.
    /// - Parameter advice: what helps a client that does not trust us.
    init(_ error: HandshakeError, advice: String) {
        switch error {
        case .connection(.timedOut):
            self = .handshakeFailed(.tlsProtocolError, "the client did not finish its TLS handshake in time")
        case .connection:
            self = .handshakeFailed(.tlsProtocolError, "the client closed the connection in its TLS handshake")
        case .tls(.truncated):
            self = .handshakeFailed(
                .tlsProtocolError,
                "the client closed the connection in its TLS handshake; perhaps it does not trust the certificate: \(advice)"
            )
        case .tls(.alert(let alert)) where alert.isDistrust:
            self = .handshakeFailed(
                .tlsAlertReceived, "the client does not trust the proxy's certificate (\(alert)): \(advice)")
        case .tls(.alert(let alert)):
            self = .handshakeFailed(.tlsAlertReceived, "the client stopped its TLS handshake: \(alert)")
        case .tls(.peer(reason: "no application protocol")):
            self = .handshakeFailed(
                .tlsProtocolError,
                "the client offers only protocols that the proxy does not support, such as h2: it must offer http/1.1 by ALPN"
            )
        case .tls(.peer(reason: TLSError.tooOldVersion)):
            self = .handshakeFailed(
                .tlsProtocolError, "the client speaks TLS 1.1 or older, but the proxy needs 1.2 or newer")
        case .tls(.peer(let reason)):
            self = .handshakeFailed(.tlsProtocolError, "TLS with the client failed: \(reason)")
        case .tls(let other): self = .handshakeFailed(.tlsProtocolError, "\(other)")
        }
    }
}

extension TLSAlert {
    /// RFC 8446 section 6.2: what a client says that has looked at a certificate and does not like it.
    fileprivate var isDistrust: Bool { [42, 43, 44, 45, 46, 48].contains(rawValue) }
}
