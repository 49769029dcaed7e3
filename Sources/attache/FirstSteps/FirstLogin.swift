import Bytes
import Credentials
import Crypto
import Model

/// A credential that `attache init` writes.
struct FirstLogin {
    enum Content {
        case password(user: String)
        /// A Kerberos principal with its password.
        case kerberos(principal: String)
        /// A Kerberos principal with a keytab at this path.
        case keytab(principal: String, String)
        /// A Kerberos principal with a ticket cache of this name.
        case ticketCache(principal: String, String)
        /// A token that is typed.
        case token
        /// A token in a file at this path.
        case tokenFile(String)
        /// An OAuth client at this token endpoint; the client secret is typed.
        case oauth(endpoint: String, client: String)
        /// An OAuth client of this issuer, for these scopes at most; the client secret is typed.
        case issuer(String, client: String, scopes: [String])
        /// A user and a password for a container registry's token server; nil: on the registry's own host and port.
        case registry(user: String, server: String?)
        /// A client certificate: the paths of the certificate and of its key.
        case identity(certificate: String, key: String)
    }

    /// The name in the rule file.
    let name: String
    let content: Content
    /// The secret that was typed, and goes into a file of its own; nil if it is in a file already.
    var secret: Secret?

    /// The login in a sentence.
    var subject: String {
        switch content {
        case .password(let user), .registry(let user, _): "'\(Console.printable(user))'"
        case .kerberos(let principal), .keytab(let principal, _), .ticketCache(let principal, _):
            "'\(Console.printable(principal))'"
        case .token, .tokenFile: "the token"
        case .oauth(_, let client), .issuer(_, let client, _): "the token of the client '\(Console.printable(client))'"
        case .identity: "the certificate"
        }
    }

    /// The realm whose KDC gives the login its ticket, for people; nil for other logins, and if the ticket is there.
    var realm: String? {
        switch content {
        case .kerberos(let principal), .keytab(let principal, _):
            principal.split(separator: "@").last.map { Console.printable(String($0)) }
        default: nil
        }
    }

    /// The part of a sentence that says what was refused.
    var proof: String {
        switch content {
        case .password, .kerberos, .registry: " with that password"
        case .keytab: " with the key of the keytab"
        case .ticketCache: " with the ticket of the cache"
        case .token, .tokenFile, .oauth, .issuer, .identity: ""
        }
    }

    /// The name of the secret's file, beside the rule file.
    var secretFile: String {
        switch content {
        case .token: SecretFileName.token(name)
        case .oauth, .issuer: SecretFileName.clientSecret(name)
        default: SecretFileName.password(name)
        }
    }

    /// The block in the rule file.
    var block: String {
        let file = RuleWord.quoted(secretFile)
        let words =
            switch content {
            case .password(let user): "user \(RuleWord.quoted(user)); password file \(file)"
            case .kerberos(let principal): "kerberos \(RuleWord.quoted(principal)); password file \(file)"
            case .keytab(let principal, let path):
                "kerberos \(RuleWord.quoted(principal)); keytab \(RuleWord.quoted(path))"
            case .ticketCache(let principal, let cache):
                "kerberos \(RuleWord.quoted(principal)); ccache \(RuleWord.quoted(cache))"
            case .token: "token file \(file)"
            case .tokenFile(let path): "token file \(RuleWord.quoted(path))"
            case .oauth(let endpoint, let client):
                "oauth2 \(RuleWord.quoted(endpoint)); client-id \(RuleWord.quoted(client)); client-secret file \(file)"
            case .issuer(let issuer, let client, let scopes):
                "issuer \(RuleWord.quoted(issuer)); client-id \(RuleWord.quoted(client)); client-secret file \(file)"
                    + (scopes.isEmpty ? "" : "; scope \(scopes.map(RuleWord.quoted).joined(separator: " "))")
            case .registry(let user, let server):
                "user \(RuleWord.quoted(user)); password file \(file); registry"
                    + (server.map { " \(RuleWord.quoted($0))" } ?? "")
            case .identity(let certificate, let key):
                "certificate \(RuleWord.quoted(certificate)); key \(RuleWord.quoted(key))"
            }
        return "credential \(RuleWord.quoted(name)) { \(words) }"
    }

    /// The credential with the typed secret in the place of a file that is not written yet.
    func withSecret(_ configured: ConfiguredCredential) -> ConfiguredCredential {
        guard let secret, configured.name.hasSameBytes(as: name) else { return configured }
        let value = ValueSource.literal(
            RedactedText(secret.withBytes { String(decoding: $0.array, as: UTF8.self) }))
        return ConfiguredCredential(name: name, content: configured.content.replacingFile(by: value))
    }
}

extension CredentialSource {
    /// The source with another value in the place of the file of its password, token or client secret.
    fileprivate func replacingFile(by value: ValueSource) -> CredentialSource {
        switch self {
        case .password(let user, .file): return .password(user: user, password: value)
        case .token(.file): return .token(value)
        case .kerberos(let source):
            guard case .password(.file) = source.proof else { return self }
            return .kerberos(Kerberos(principal: source.principal, proof: .password(value)))
        case .oauth(let source):
            guard case .secret(.file, let isInBody) = source.proof else { return self }
            return .oauth(source.proved(by: .secret(value, inBody: isInBody)))
        case .registry(let source):
            guard let login = source.login, case .file = login.password else { return self }
            return .registry(
                RegistrySource(
                    server: source.server, login: RegistrySource.Login(user: login.user, password: value),
                    scopes: source.scopes))
        case .placed(let source, let placements): return .placed(source.replacingFile(by: value), placements)
        default: return self
        }
    }
}
