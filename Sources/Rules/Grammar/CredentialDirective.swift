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
        case .kerberos: .one("a principal such as svc@EXAMPLE.COM").later(.kerberos)
        case .keytab: .one("a path", .path).later(.kerberos)
        case .ccache: .one("a path", .path).later(.kerberos)
        case .token: .one(Self.value, .atUse).later(.bearer)
        case .oauth2: .one("the URL of a token endpoint").later(.oauth)
        case .clientID: .one("a text").later(.oauth)
        case .clientSecret, .refreshToken, .assertion: .one(Self.value, .atUse).later(.oauth)
        case .clientAuthentication: .one("'basic' or 'post'").later(.oauth)
        case .keyID, .audience: .one("a text").later(.oauth)
        case .scope: .some("scopes").later(.oauth)
        case .aws: .some("a region and a service").later(.signatures)
        case .accessKey, .secretKey, .sessionToken: .one(Self.value, .atUse).later(.signatures)
        case .payload: .one("'signed' or 'unsigned'").later(.signatures)
        }
    }
}
