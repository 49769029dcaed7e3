enum CredentialDirective: String, DirectiveName {
    case user
    case password
    case kerberos
    case keytab
    case ccache
    case token
    case oauth2
    case clientID = "client-id"
    case clientSecret = "client-secret"
    case scope
    case certificate
    case key
    case aws

    static let block: String? = "credential"

    var grammar: DirectiveGrammar {
        switch self {
        case .user: .one("a value, 'env' and a name, or 'file' and a path", .atUse)
        case .password: .one("a value, 'env' and a name, or 'file' and a path", .atUse)
        case .kerberos, .keytab, .ccache, .token, .oauth2, .clientID, .clientSecret, .scope, .certificate, .key, .aws:
            .later
        }
    }
}
