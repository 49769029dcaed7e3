/// The kinds of content that a `credential` can have: exactly one of them.
enum CredentialKind: CaseIterable {
    case password
    case pem
    case pkcs12
    case pkcs11

    /// The kind that a directive belongs to; nil: it says nothing of the kind.
    init?(_ word: CredentialDirective) {
        guard let kind = Self.allCases.first(where: { $0.needed.contains(word) }) else { return nil }
        self = kind
    }

    var needed: [CredentialDirective] {
        switch self {
        case .password: [.user, .password]
        case .pem: [.certificate, .key]
        case .pkcs12: [.pkcs12]
        case .pkcs11: [.pkcs11]
        }
    }

    /// All that may be said with it.
    var words: [CredentialDirective] {
        switch self {
        case .password: needed
        case .pem, .pkcs12, .pkcs11: needed + [.passphrase]
        }
    }

    /// What it consists of, in a sentence: "a certificate and its key".
    var shown: String {
        switch self {
        case .password: "a user and a password"
        case .pem: "a certificate and its key"
        case .pkcs12: "a PKCS#12 file"
        case .pkcs11: "a key in a token"
        }
    }
}
