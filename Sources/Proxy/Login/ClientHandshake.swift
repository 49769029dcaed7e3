import Bytes
import HTTP
import IO
import TLS
import Telemetry
import Transport
import Upstream

extension Downstream {
    /// Performs the TLS handshake with the client, as the server; the parameters are those of the stream's `accept`.
    func accept(
        as server: ServerTLSContext, after earlier: ByteBuffer, within limit: Milliseconds, offersHTTP2: Bool,
        identity: (_ serverName: String?) async -> Identity?
    ) async throws(HandshakeError) {
        do throws(HandshakeError) {
            try await stream.accept(
                as: server, after: earlier, within: limit, offersHTTP2: offersHTTP2, identity: identity)
        } catch {
            metrics.add(to: .clientHandshakesFailed)
            throw error
        }
        metrics.add(to: stream.tls?.isResumed == true ? .clientHandshakesResumed : .clientHandshakesFull)
    }
}

extension ExchangeFailure {
    /// Creates the failure of a TLS handshake with a client.
    /// - Parameter advice: the hint for a client that does not trust the proxy's certificate.
    init(_ error: HandshakeError, advice: String) {
        let sentence =
            switch error {
            case .connection(.timedOut): "the client did not finish its TLS handshake in time"
            case .connection: "the client closed the connection in its TLS handshake"
            case .tls(.truncated):
                "the client closed the connection in its TLS handshake; perhaps it does not trust the certificate: \(advice)"
            case .tls(.alert(let alert)) where alert.isDistrust:
                "the client does not trust the proxy's certificate (\(alert)): \(advice)"
            case .tls(.alert(let alert)): "the client stopped its TLS handshake: \(alert)"
            case .tls(.peer(reason: "no application protocol")):
                "the client offers only protocols that the proxy does not support here: it must offer http/1.1 by ALPN, or h2 where the rule file does not say 'http2 no'"
            case .tls(.peer(reason: TLSError.tooOldVersion)):
                "the client speaks TLS 1.1 or older, but the proxy needs 1.2 or newer"
            case .tls(.peer(let reason)): "TLS with the client failed: \(reason)"
            case .tls(let other): "\(other)"
            }
        let isAlert = if case .tls(.alert) = error { true } else { false }
        self = .handshakeFailed(isAlert ? .tlsAlertReceived : .tlsProtocolError, sentence)
    }
}

extension TLSAlert {
    /// Whether the client rejects a certificate that it has seen (RFC 8446 section 6.2).
    fileprivate var isDistrust: Bool { [42, 43, 44, 45, 46, 48].contains(rawValue) }
}

extension Certificate {
    /// The user name of a client with this certificate, for rules and logs: its SPIFFE ID (SPIFFE-ID section 2; in
    /// X509-SVID the only URI), else the subject's common name, else the first usable alternative name.
    var userName: String? {
        let names = subjectAlternativeNames
        let identities = names.compactMap { name in
            if case .uri(let text) = name, text.utf8.starts(with: "spiffe://".utf8) { text } else { nil }
        }
        if identities.count == 1 { return identities[0] }
        if let commonName { return commonName }
        for name in names {
            switch name {
            case .email(let text), .uri(let text), .dns(let text): return text
            case .address(let address): return "\(address)"
            case .directory, .other: continue
            }
        }
        return nil
    }
}
