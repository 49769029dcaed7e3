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
    // Kerberos.
    case kerberos
    case keytab
    case ccache
    // Bearer tokens.
    case token
    case oauth2
    case clientID = "client-id"
    case clientSecret = "client-secret"
    case clientAuthentication = "client-authentication"
    case keyID = "key-id"
    case refreshToken = "refresh-token"
    case assertion
    case scope
    case audience
    // Signatures.
    case aws
    case accessKey = "access-key"
    case secretKey = "secret-key"
    case sessionToken = "session-token"
    case payload

    static let block: String? = "credential"

    private static let value = "a value, 'env' and a name, or 'file' and a path"

    var grammar: DirectiveGrammar {
        switch self {
        case .user, .password, .passphrase: .one(Self.value, .atUse)
        case .certificate, .key, .pkcs12: .one("a path", .path)
        case .pkcs11: .one("a PKCS#11 URI in quotes", .never)
        case .kerberos: .one("a principal such as svc@EXAMPLE.COM")
        case .keytab: .one("a path", .path)
        case .ccache: .one("a path", .path)
        case .token: .one(Self.value, .atUse)
        case .oauth2: .one("the URL of a token endpoint")
        case .clientID: .one("a text")
        case .clientSecret, .refreshToken, .assertion: .one(Self.value, .atUse)
        case .clientAuthentication: .one("'basic' or 'post'")
        case .keyID, .audience: .one("a text")
        case .scope: .some("scopes")
        case .aws: .some("a region and a service")
        case .accessKey, .secretKey, .sessionToken: .one(Self.value, .atUse)
        case .payload: .one("'signed' or 'unsigned'")
        }
    }
}
