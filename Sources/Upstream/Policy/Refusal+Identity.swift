import Authentication
import HTTP
import TLS

extension Refusal {
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
        explanation = report.text
    }
}
