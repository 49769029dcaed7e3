import HTTP
import IO
import TLS
import Transport

extension Refusal {
    /// The client's answer when an origin and we do not come to speak TLS.
    public init(_ error: HandshakeError, host: String, port: UInt16) {
        let place = "\(host) port \(port)"
        switch error {
        case .connection(.timedOut):
            self.init(.gatewayTimeout, .connectionTimeout, "\(place) did not finish its TLS handshake in time")
        case .connection, .tls(.truncated):
            self.init(
                .badGateway, .connectionTerminated, "\(place) ended the connection in the middle of its TLS handshake")
        case .tls(let error):
            self.init(error, place: place)
        }
    }

    /// The client's answer when TLS fails; also after the handshake, for instance when the origin turns out to want a
    /// certificate.
    public init(_ error: TLSError, place: String) {
        switch error {
        case .alert(.noApplicationProtocol):
            self.init(
                .badGateway, .tlsAlertReceived,
                "\(place) does not speak HTTP/1.1, as servers do that speak only HTTP/2, which this proxy does not speak with servers: it broke the TLS connection off (no application protocol)"
            )
            alert = .noApplicationProtocol
        case .alert(let alert):
            self.init(.badGateway, .tlsAlertReceived, "\(place) broke the TLS connection off: \(alert)")
            self.alert = alert
        case .identityWanted(let alert):
            self.init(
                .badGateway, .tlsAlertReceived,
                "\(place) wants a client certificate, and no rule shows one: it broke the connection off (\(alert))")
            self.alert = alert
        case .truncated, .transport:
            self.init(.badGateway, .connectionTerminated, "the TLS connection to \(place) broke")
        case .peer(let reason):
            self.init(.badGateway, .tlsProtocolError, "no TLS with \(place): \(reason)")
        case .serverChanged:
            self.init(
                .badGateway, .tlsCertificateError, "\(place) changed its certificate in the middle of the connection")
        case .trustRefused:
            self.init(.badGateway, .tlsCertificateError, "the certificate of \(place) is not trusted")
        case .unusableIdentity(let reason):
            self.init(
                .internalServerError, .proxyConfigurationError,
                "the certificate that a rule wants to be shown to \(place) cannot be used: \(reason)")
        case .noIdentity, .clientRefused, .local:
            self.init(.internalServerError, .proxyInternalError, "this proxy cannot speak TLS with \(place)")
        }
    }
}
