/// The kinds of content that a `credential` can have: exactly one of them.
enum CredentialKind: CaseIterable {
    case kerberos
    case oauth
    case token
    case signature
    case pkcs12
    case pkcs11
    case pem
    case password

    /// The kind that the words of a block belong to; nil: they say nothing of the kind. A word that is one kind's alone
    /// decides before those which are part of several.
    init?(_ words: [CredentialDirective]) {
        let own = words.lazy.compactMap { word in Self.allCases.first { $0.first == word && !$0.isCommon } }.first
        let common = words.lazy.compactMap { word in Self.allCases.first { $0.isCommon && $0.needed.contains(word) } }
        guard let kind = own ?? common.first else { return nil }
        self = kind
    }

    private var first: CredentialDirective? { needed.first }
    private var isCommon: Bool { self == .pem || self == .password }

    var needed: [CredentialDirective] {
        switch self {
        case .kerberos: [.kerberos]
        case .oauth: [.oauth2, .clientID]
        case .token: [.token]
        case .signature: [.aws, .accessKey, .secretKey]
        case .pkcs12: [.pkcs12]
        case .pkcs11: [.pkcs11]
        case .pem: [.certificate, .key]
        case .password: [.user, .password]
        }
    }

    /// What may be said with it besides.
    private var optional: [CredentialDirective] {
        switch self {
        case .kerberos: [.keytab, .ccache, .password]
        case .oauth:
            [
                .clientSecret, .clientAuthentication, .certificate, .key, .passphrase, .keyID, .refreshToken,
                .assertion,
                .scope, .audience,
            ]
        case .signature: [.sessionToken, .payload]
        case .pkcs12, .pkcs11, .pem: [.passphrase]
        case .token, .password: []
        }
    }

    func allows(_ word: CredentialDirective) -> Bool { needed.contains(word) || optional.contains(word) }

    /// What it consists of, in a sentence: "a certificate and its key".
    var shown: String {
        switch self {
        case .kerberos: "a Kerberos principal"
        case .oauth: "a token that is fetched"
        case .token: "a token"
        case .signature: "a key that signs"
        case .pkcs12: "a PKCS#12 file"
        case .pkcs11: "a key in a token"
        case .pem: "a certificate and its key"
        case .password: "a user and a password"
        }
    }
}
