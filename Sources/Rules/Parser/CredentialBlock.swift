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
    case issuer
    case registry
    case clientID = "client-id"
    case clientSecret = "client-secret"
    case clientAuthentication = "client-authentication"
    case keyID = "key-id"
    case assertionAudience = "assertion-audience"
    case refreshToken = "refresh-token"
    case assertion
    case clientAssertion = "client-assertion"
    case subjectToken = "subject-token"
    case actorToken = "actor-token"
    case requested
    case subject
    case scope
    case audience
    case resource
    case parameter
    // Signatures.
    case aws
    case accessKey = "access-key"
    case secretKey = "secret-key"
    case sessionToken = "session-token"
    case payload
    case oauth1
    case consumerKey = "consumer-key"
    case consumerSecret = "consumer-secret"
    case accessToken = "access-token"
    case tokenSecret = "token-secret"
    case realm
    case sign
    case agent
    // Programs that give a credential or a value.
    case helper
    case environment
    case keep
    case path
    // The place of a password or a token.
    case header
    case query
    case placeholder

    static let block: String? = "credential"
    static let synonyms: [String: Self] = [
        "username": .user, "login": .user, "pass": .password, "pwd": .password, "cert": .certificate,
    ]

    private static let value = "a value, 'env' and a name, 'file' and a path, or 'run' and a command"
    private static let tokenValue =
        "a value, 'env' and a name, 'file' and a path, 'run' and a command, or 'credential' and a name"

    var grammar: DirectiveGrammar {
        switch self {
        case .user, .password, .passphrase, .token, .clientSecret, .refreshToken, .accessKey, .secretKey, .sessionToken,
            .consumerKey, .consumerSecret, .accessToken, .tokenSecret:
            .one(Self.value, .atUseOrRun)
        case .certificate, .key, .pkcs12, .keytab, .ccache: .one("a path", .path)
        case .clientID, .keyID, .audience, .subject, .realm: .one("a text")
        case .pkcs11: .one("a PKCS#11 URI in quotes", .never)
        case .kerberos: .one("a principal such as svc@EXAMPLE.COM")
        case .oauth2: .one("the URL of a token endpoint")
        case .issuer: .one("the URL of an issuer")
        case .registry: .optional("the URL of a token server")
        case .assertion: .some("\(Self.tokenValue), or 'key' and a path", .token)
        case .clientAssertion: .some(Self.tokenValue, .token)
        case .subjectToken, .actorToken: .some("\(Self.tokenValue); then its type if it is not 'jwt'", .token)
        case .requested: .one("a type of token")
        case .resource: .one("'auto', 'none' or a URL")
        case .parameter: .some("a name and \(Self.value)", .atUseOrRun, repeats: true)
        case .clientAuthentication: .one("'basic' or 'post'")
        case .assertionAudience: .one("'issuer', 'endpoint' or a text")
        case .scope: .some("scopes")
        case .aws: .some("a region and a service")
        case .payload: .one("'signed' or 'unsigned'")
        case .oauth1: .one("'hmac-sha256', 'hmac-sha1', 'rsa-sha1' or 'plaintext'")
        case .sign: .some("'key' and a path", .never)
        case .agent: .one("an https URL such as https://bot.example.com")
        case .helper: .some("a kind such as 'git' and a command", .never)
        case .environment: .some("the names of variables", .never, repeats: true)
        case .path: .one("'yes' or 'no'")
        case .keep: .one("a duration such as 500ms, 10s, 5m or 1h")
        case .header: .some("the name of a field, and its value such as \"{token}\"", .never, repeats: true)
        case .placeholder: .one("a text, such as 'attache credential placeholder' prints")
        case .query: .some("the name of a parameter, and its value such as \"{token}\"", .never, repeats: true)
        }
    }
}

/// The directives of one `credential`, by name.
struct CredentialBlock {
    let directives: [Directive<CredentialDirective>]

    func directive(_ word: CredentialDirective) -> Directive<CredentialDirective>? {
        directives.first { $0.name == word }
    }

    func value(_ word: CredentialDirective) -> Value? { directive(word)?.values.first }

    func values(_ word: CredentialDirective) -> [Value] { directive(word)?.values ?? [] }

    /// The directives with one of these names, in the order of the file.
    func said(_ words: [CredentialDirective]) -> [Directive<CredentialDirective>] {
        directives.filter { words.contains($0.name) }
    }
}

/// The kinds of content that a `credential` can have: exactly one of them.
enum ContentKind: CaseIterable {
    case kerberos
    case oauth
    case registry
    case helper
    case token
    case aws
    case oauth1
    case message
    case pkcs12
    case pkcs11
    case pem
    case password

    /// The kind that the words of a block belong to; nil if they do not tell. A word of a single kind decides before
    /// words that belong to several.
    init?(_ words: [CredentialDirective]) {
        // A helper can give the login of a registry, and the keys of AWS.
        let helped: Self? = words.contains(.registry) ? .registry : words.contains(.aws) ? .aws : nil
        let own = words.compactMap { word in Self.allCases.first { $0.leading.contains(word) && !$0.isCommon } }.first
        let common = words.compactMap { word in Self.allCases.first { $0.isCommon && $0.needed.contains(word) } }
        guard let kind = helped ?? own ?? common.first else { return nil }
        self = kind
    }

    /// The words that tell the kind.
    private var leading: [CredentialDirective] { self == .oauth ? [.oauth2, .issuer] : Array(needed.prefix(1)) }
    private var isCommon: Bool { self == .pem || self == .password }

    var needed: [CredentialDirective] {
        switch self {
        case .kerberos: [.kerberos]
        case .oauth: [.clientID]
        case .registry: [.registry]
        case .helper: [.helper]
        case .token: [.token]
        case .aws: [.aws, .accessKey, .secretKey]
        case .oauth1: [.oauth1, .consumerKey]
        case .message: [.sign, .agent]
        case .pkcs12: [.pkcs12]
        case .pkcs11: [.pkcs11]
        case .pem: [.certificate, .key]
        case .password: [.user, .password]
        }
    }

    /// The optional directives of this kind.
    private var optional: [CredentialDirective] {
        switch self {
        case .kerberos: [.keytab, .ccache, .password, .environment, .keep]
        case .oauth:
            [
                .oauth2, .issuer, .clientSecret, .clientAuthentication, .certificate, .key, .passphrase, .keyID,
                .assertionAudience, .refreshToken, .assertion, .clientAssertion, .subjectToken, .actorToken, .requested,
                .subject, .scope, .audience, .resource, .parameter, .environment, .keep,
            ]
        case .registry: [.user, .password, .scope, .helper, .environment, .keep]
        case .helper: [.environment, .keep, .path]
        case .aws: [.sessionToken, .payload, .helper, .environment, .keep]
        case .oauth1:
            [
                .consumerSecret, .key, .passphrase, .accessToken, .tokenSecret, .realm, .payload, .environment, .keep,
            ]
        case .message, .pkcs12, .pkcs11, .pem: [.passphrase, .environment, .keep]
        case .token, .password: [.header, .query, .placeholder, .environment, .keep]
        }
    }

    func allows(_ word: CredentialDirective) -> Bool { needed.contains(word) || optional.contains(word) }

    /// The parts of this kind, in words: "a certificate and its key".
    var shown: String {
        switch self {
        case .kerberos: "a Kerberos principal"
        case .oauth: "a token that is fetched"
        case .registry: "the login of a registry"
        case .helper: "the credential of a helper"
        case .token: "a token"
        case .aws, .oauth1, .message: "a key that signs requests"
        case .pkcs12: "a PKCS#12 file"
        case .pkcs11: "a key in a token"
        case .pem: "a certificate and its key"
        case .password: "a user and a password"
        }
    }
}
