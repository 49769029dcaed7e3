import Model
import Rules
import TLS

/// The lines for the rule file that trust one server in spite of what was found: this key, these findings, for a while.
public struct SuggestedTrustRule: Sendable {
    public let host: String
    public let port: UInt16
    /// The findings that the rule forgives.
    public let findings: TrustFindings
    public let pin: KeyPin
    /// The last day.
    public let until: Day
    /// The name that is looked for in the certificate in the place of the host's.
    public let name: String?

    /// Days for which a rule is suggested: long enough to set the server right, short enough to be looked at again.
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
    }

    /// Advice where a revocation list leaves open whether a server's certificate holds: no rule is suggested
    /// that forgives `revoked` for that, since it would go on to forgive it when the list is sound again.
    public static func sentence(onDoubtsOf evaluation: TrustEvaluation) -> String? {
        guard evaluation.findings.contains(where: \.isDoubt) else { return nil }
        return
            "It is unknown whether a certificate is revoked: give the route a newer revocation list, or one that can be used."
    }

    /// A `challenge` as it is pasted, with a line feed at its end.
    public var text: String {
        let allow = findings.isEmpty ? "" : "    allow  \(findings)\n"
        let name = name.map { "    name   \($0)\n" } ?? ""
        return """
            challenge "\(host)" {
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
