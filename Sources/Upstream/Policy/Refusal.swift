import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Rules
import TLS
import Transport

/// A response that the proxy makes itself in place of an upstream's: the status, the text for the client and its
/// fields.
public struct Refusal: Error {
    public let status: Status
    public let error: ProxyError
    /// One sentence for the user, without internals and secrets.
    public var sentence: String
    /// The value of `details` in `Proxy-Status`: mostly the sentence.
    public var details: String
    /// The alert with which a TLS peer closed the connection.
    public var alert: TLSAlert?
    /// Whether the server ended the connection because of the client certificate, or because there was none.
    public var isAboutIdentity = false
    /// The reason why an origin was not trusted, for the record.
    public var trust: TrustRefusal?
    /// The question that an operator can answer so that a new connection succeeds; nil if none.
    public var question: OperatorQuestion.Subject?
    /// Further help for the user, in lines of its own.
    public var explanation: String?
    /// Fields of the response, such as a challenge of the proxy.
    public var fields: [(name: StaticString, value: String)] = []
    /// The body: the sentence, then an empty line and the explanation, if there is one.
    public var text: String { explanation.map { "\(sentence)\n\n\($0)\n" } ?? "\(sentence)\n" }
    /// The status with which a parent refused, if it differs from the client's.
    public var receivedStatus: Status?
    /// Whether the same request may succeed later, though nothing is changed: a source of credentials could not be reached.
    public var isTransient = false
    /// Whether nothing was sent yet, so that another parent can be tried.
    public var mayGoAnotherWay = false
    /// Whether the client's connection can carry another request after this.
    public var keepsConnection = true

    public init(
        _ status: Status, _ error: ProxyError, _ sentence: String, explanation: String? = nil,
        fields: [(name: StaticString, value: String)] = [], keepsConnection: Bool = true
    ) {
        self.status = status
        self.error = error
        self.sentence = sentence
        details = sentence
        self.explanation = explanation
        self.fields = fields
        self.keepsConnection = keepsConnection
    }

    /// The client's answer to a malformed message. Its end cannot be trusted, so the connection closes after the
    /// answer.
    public init(_ error: HTTPError) {
        self.init(error.status, error.proxyError, "\(error)", keepsConnection: error.fault != .client)
    }

    /// The refusal when too many clients want the same kind of slow work.
    public static func busy(_ sentence: String, retryAfter: Milliseconds) -> Refusal {
        Refusal(
            .serviceUnavailable, .connectionLimitReached, "\(sentence); try again",
            fields: [(name: "Retry-After", value: "\(retryAfter.seconds)")])
    }

    public static var lateBody: Refusal {
        Refusal(.requestTimeout, .httpRequestError, "the request's body did not arrive in time", keepsConnection: false)
    }

    /// The answer to a TLS handshake on a listener without TLS.
    public static var tlsOnPlainListener: Refusal {
        Refusal(
            .badRequest, .httpRequestError,
            "the client spoke TLS to a listener without TLS: use http:// in the client's proxy setting",
            keepsConnection: false)
    }

    public static var lateHead: Refusal {
        Refusal(.requestTimeout, .httpRequestError, "the request's head did not arrive in time", keepsConnection: false)
    }

    /// The client's answer if a rule forbids connections to a server that asks for a certificate; nil if no rule does.
    init?(_ progress: IdentityProgress, of choice: IdentityChoice) {
        guard case .cancelled(let reason)? = progress.end else { return nil }
        self.init(
            .badGateway, .httpRequestDenied,
            "\(choice.space.host) port \(choice.space.port) asks for a client certificate, but \(reason)")
        explanation = IdentityReport(choice).text
        question = progress.question
    }

    /// The client's answer if the server closed the connection because it got no certificate, or one that it refuses.
    init(_ alert: TLSAlert, of choice: IdentityChoice) {
        let peer = "\(choice.space.host) port \(choice.space.port)"
        let report = IdentityReport(choice)
        self.init(
            .badGateway, .tlsAlertReceived, "\(peer) \(report.predicate): it stopped the connection (\(alert))")
        self.alert = alert
        isAboutIdentity = true
        explanation = report.text
    }
}

/// Refusals by the rules. Each names the address, and the line of the rule file that would allow it.
extension Refusal {
    /// The refusal for a host all of whose addresses `egress` denies.
    ///
    /// - Parameter addresses: the denied addresses of the host.
    public static func prohibited(
        _ addresses: [IPAddress], of host: String, port: UInt16, by egress: EgressPolicy
    ) -> Refusal {
        let shown = Array(addresses.prefix(shownLimit))
        let names = shown.map { "\($0.unmapped)" }
        let peer = names == [host] ? "\(host) port \(port)" : "\(host) port \(port) (\(names.joined(separator: ", ")))"
        let entries = shown.compactMap { egress.entry(allowing: $0, port: port) }
        return Refusal(
            .forbidden, .destinationIPProhibited, "the rules of this proxy do not let it connect to \(peer)",
            explanation: entries.isEmpty
                ? shown.first.map { "The rule file denies this address: \(egress.permits($0, port: port).reason)." }
                : line("allow \(entries.joined(separator: " "))", in: "egress"))
    }

    /// The refusal for a tunnel to a port that `connect-ports` does not list.
    public static func tunnelPort(_ port: UInt16, of host: String, by egress: EgressPolicy) -> Refusal {
        Refusal(
            .forbidden, .httpRequestDenied, "the rules of this proxy do not allow tunnels to \(host) port \(port)",
            explanation: line("connect-ports \(egress.connectPorts(with: port))", in: "egress"))
    }

    /// The refusal for a client address that `clients` does not allow.
    public static func client(at address: IPAddress?, by clients: RuleSet.ClientPolicy) -> Refusal {
        guard let address else { return Refusal(.forbidden, .httpRequestDenied, "this proxy does not serve you") }
        return Refusal(
            .forbidden, .httpRequestDenied, "this proxy does not serve clients at your address, \(address.unmapped)",
            explanation: line("allow \(clients.entries(with: address))", in: "clients"))
    }

    /// The number of addresses listed. A name may have any number of them.
    private static var shownLimit: Int { 4 }

    private static func line(_ line: String, in block: String) -> String {
        "This line in '\(block)' of the rule file would allow it:\n\n    \(line)"
    }

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
                "\(peer) does not speak HTTP/1.1, only HTTP/2, which this request may not use: see 'attache help http2' (no application protocol)"
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
