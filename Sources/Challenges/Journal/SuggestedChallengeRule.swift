import Authentication
import Bytes
import Model
import Rules

/// The lines for the rule file that would answer a challenge.
public struct SuggestedChallengeRule: Sendable {
    public let space: ProtectionSpace
    /// The credentials of the rule file that a rule intends for this server; empty if one must be created.
    public var credentials: [String] = []
    /// Whether a rule nearly gave credentials that it does not intend for this server: the lines then leave the name
    /// open.
    public var isOpen = false
    /// Whether that rule requires answers that do not show the credential on the way.
    public var wantsSecure = false
    /// Whether the answer is to replace the client's own.
    public var replacesAuthorization = false
    /// The methods that the rule names. A rule with methods also requires `secure yes` if the connection is secure.
    public var methods: [AuthenticationMethod] = []
    /// The token server of a registry; nil for other servers.
    public var registry: RegistryChallenge.Naming?
    /// The name of the credential that has to be made; nil: `origin` or `parent`.
    public var credentialName: String?
    /// The name of the rule; nil: the host.
    public var ruleName: String?
    /// The metadata of a server that announces its tokens, with the scopes that it asks for; nil if it is unknown.
    public var announced: (metadata: ResourceMetadata, scopes: [String])?

    public init(_ space: ProtectionSpace) { self.space = space }

    /// The name of the credential that has to be made; nil: the rule uses others.
    public var madeCredential: String? {
        credentials.isEmpty && !isOpen ? credentialName ?? (space.isProxy ? "parent" : "origin") : nil
    }

    /// The lines, without line feeds. Nil if no lines would help.
    public var lines: [String]? {
        let isSecure = space.receivesCredentialSecurely
        guard (try? HostPattern(space.host)) != nil, isSecure || !wantsSecure else { return nil }
        let realm = space.isProxy ? nil : space.realm.map(Self.quoted)
        // A pattern would also match other realms.
        let isOpen = isOpen || !credentials.isEmpty && realm?.contains("*") == true
        let name = isOpen ? "…" : madeCredential ?? credentials.joined(separator: " ")
        var lines: [String] = []
        if madeCredential != nil {
            if space.authenticationMethod == .bearer, let (comments, content) = issuerLines {
                lines += comments + ["credential \(name) { \(content) }"]
            } else {
                let ofRegistry = registry.map { "user NAME; password file /path/to/password; \($0.directive)" }
                guard let content = ofRegistry ?? Self.content(for: space.authenticationMethod) else { return nil }
                lines.append("credential \(name) { \(content) }")
            }
        }
        var predicates = ["host \(space.host)", "port \(space.port)"]
        if space.isProxy { predicates.insert("proxy yes", at: 0) }
        if space.protocol == .ftp { predicates.append("protocol ftp") }
        if let realm, !realm.contains("*"), registry == nil { predicates.append("realm \(realm)") }
        if !methods.isEmpty { predicates.append("method \(methods.map { "\($0)" }.joined(separator: " "))") }
        if wantsSecure || !methods.isEmpty && space.protocol == .https { predicates.append("secure yes") }
        if replacesAuthorization { predicates.append("authorization replace") }
        let rule =
            "challenge \(Self.quoted(ruleName ?? space.host)) { \(predicates.joined(separator: "; ")); use \(name) }"
        lines.append(isSecure ? rule : "\(rule)  # unencrypted: \(Self.warning)")
        return lines
    }

    /// The content of a credential for the announced tokens, with comments about who gets the secret.
    private var issuerLines: (comments: [String], content: String)? {
        guard let (metadata, scopes) = announced, let issuer = metadata.usableIssuers.first else { return nil }
        let others = metadata.usableIssuers.dropFirst().prefix(3).map { JournalText.printable($0) }
        var comments = [
            "# the server announces this issuer, for \(JournalText.printable(metadata.resource)): check that it is yours"
        ]
        if !others.isEmpty { comments.append("# or one of its other issuers: \(others.joined(separator: " "))") }
        let scope = scopes.map(Self.quoted).joined(separator: " ")
        let content = "issuer \(Self.quoted(issuer)); client-id NAME; client-secret file /path/to/secret"
        return (comments, content + (scope.isEmpty ? "" : "; scope \(scope)"))
    }

    private static let warning = "anyone on the way can read it"

    private static func content(for method: AuthenticationMethod) -> String? {
        switch method.traits.credential {
        case .password where method.traits.consent == .none: "user NAME; password file /path/to/password"
        case .ticket: "kerberos NAME@REALM; keytab /path/to/keytab"
        case .token: "token file /path/to/token"
        case .password, .certificate, .exception, nil: nil
        }
    }

    /// Returns a string of the rule file. Characters that it cannot contain become a `*`.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "…", "\u{FFFD}", "*": quoted += "*"
            case _ where scalar.isInvisible: quoted += "*"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension RegistryChallenge.Naming {
    /// The directive of a credential that this token server may have.
    public var directive: String {
        switch self {
        case .own: "registry"
        case .url(let url): "registry \(SuggestedChallengeRule.quoted(url))"
        }
    }
}
