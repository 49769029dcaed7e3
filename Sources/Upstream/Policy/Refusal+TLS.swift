import HTTP
import IO
import TLS
import Transport

extension Refusal {
    /// The client's answer if the TLS handshake with an origin fails.
    public init(_ error: HandshakeError, host: String, port: UInt16) {
        let peer = "\(host) port \(port)"
        switch error {
        case .connection(.timedOut):
            self.init(.gatewayTimeout, .connectionTimeout, "\(peer) did not finish its TLS handshake in time")
        case .connection, .tls(.truncated):
            self.init(
                .badGateway, .connectionTerminated, "\(peer) closed the connection in its TLS handshake")
        case .tls(let error):
            self.init(error, peer: peer)
        }
    }

    /// The client's answer if TLS fails; also after the handshake, for instance when the origin then asks for a
    /// certificate.
    public init(_ error: TLSError, peer: String) {
        switch error {
        case .alert(.noApplicationProtocol):
            self.init(
                .badGateway, .tlsAlertReceived,
                "\(peer) does not speak HTTP/1.1, only HTTP/2, which this proxy does not support: it stopped the TLS connection (no application protocol)"
            )
            alert = .noApplicationProtocol
        case .alert(let alert):
            self.init(.badGateway, .tlsAlertReceived, "\(peer) stopped the TLS connection: \(alert)")
            self.alert = alert
            if alert == .protocolVersion { name("its TLS is too old") }
        case .identityWanted(let alert):
            self.init(
                .badGateway, .tlsAlertReceived,
                "\(peer) asks for a client certificate, but no rule shows one: it stopped the connection (\(alert))")
            self.alert = alert
        case .truncated, .transport:
            self.init(.badGateway, .connectionTerminated, "the TLS connection to \(peer) broke")
        case .peer(let reason):
            self.init(.badGateway, .tlsProtocolError, "TLS with \(peer) failed: \(reason)")
            if let need = Self.oldNeeds.first(where: { reason.contains($0.words) })?.need { name(need) }
        case .serverChanged:
            self.init(
                .badGateway, .tlsCertificateError, "\(peer) changed its certificate in the middle of the connection")
        case .trustRefused:
            self.init(.badGateway, .tlsCertificateError, "the certificate of \(peer) is not trusted")
        case .unusableIdentity(let reason):
            self.init(
                .internalServerError, .proxyConfigurationError,
                "the client certificate for \(peer) cannot be used: \(reason)")
        case .noIdentity, .clientRefused, .local:
            self.init(.internalServerError, .proxyInternalError, "this proxy cannot speak TLS with \(peer)")
        }
    }

    /// Adds what the server lacks, and the directive that allows the connection nevertheless.
    private mutating func name(_ need: String) {
        sentence += ": \(need). If it cannot be replaced, write 'tls minimum 1.0' in a route for this host only"
        details = sentence
    }

    /// OpenSSL's words for what only old servers need, each with an explanation.
    private static let oldNeeds: [(words: String, need: String)] = [
        ("unsafe legacy renegotiation disabled", "it does not know secure renegotiation (RFC 5746)"),
        ("unsupported protocol", "its TLS is too old"),
        ("dh key too small", "its key exchange is too short"),
    ]
}
