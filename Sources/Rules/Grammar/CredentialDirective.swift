enum CredentialDirective: String, DirectiveName {
    // A user and a password.
    case user
    case password
    // A certificate and its key.
    case certificate
    case key
    case pkcs12
    case pkcs11
    case passphrase
    // Not yet.
    case kerberos
    case keytab
    case ccache
    case token
    case oauth2
    case clientID = "client-id"
    case clientSecret = "client-secret"
    case scope
    case aws

    static let block: String? = "credential"

    var grammar: DirectiveGrammar {
        switch self {
        case .user, .password, .passphrase: .one("a value, 'env' and a name, or 'file' and a path", .atUse)
        case .certificate, .key, .pkcs12: .one("a path", .path)
        case .pkcs11: .one("a PKCS#11 URI in quotes", .never)
        case .kerberos, .keytab, .ccache, .token, .oauth2, .clientID, .clientSecret, .scope, .aws: .later
        }
    }
}
