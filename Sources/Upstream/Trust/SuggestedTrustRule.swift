import Model
import Rules
import TLS

/// The lines for the rule file that trust one server despite its problems: this key, these problems, for a limited
/// time.
public struct SuggestedTrustRule: Sendable {
    public let host: String
    public let port: UInt16
    /// The problems that the rule forgives.
    public let findings: TrustFindings
    public let pin: KeyPin
    /// The last day on which the rule applies.
    public let until: Day
    /// The name that is searched in the certificate in place of the host's name.
    public let name: String?
    /// The name of the rule.
    public var title: String

    /// The days for which a rule is suggested: long enough to repair the server, short enough to be reviewed.
    public static let days = 90

    public init(
        host: String, port: UInt16, findings: TrustFindings, pin: KeyPin, today: Day, name: String? = nil
    ) {
        self.host = host
        self.port = port
        self.findings = findings
        self.pin = pin
        until = Day(number: today.number + Self.days)
        self.name = name
        title = "\(host)\(port == 443 ? "" : ":\(port)"), its certificate"
    }

    /// Advice if it is uncertain whether a revocation list covers a server's certificate. No rule that forgives
    /// `revoked` is suggested: it would still forgive it once the list is correct again.
    public static func sentence(onDoubtsOf evaluation: TrustEvaluation) -> String? {
        guard evaluation.findings.contains(where: \.isDoubt) else { return nil }
        return
            "It is unknown whether a certificate is revoked: give the route a newer revocation list, or one that can be used."
    }

    /// The `challenge` block to paste, with a line feed at its end.
    public var text: String {
        let allow = findings.isEmpty ? "" : "    allow  \(findings)\n"
        let name = name.map { "    name   \($0)\n" } ?? ""
        return """
            challenge "\(title)" {
                host   \(host)
                port   \(port)
                method server-trust
            \(name)\(allow)    pin    \(pin)
                until  \(until)
                trust
            }

            """
    }
}
