import Authentication
import Model

/// The kind of credential that a server asks for, of those that a person can type.
struct WantedLogin {
    enum Kind: Equatable {
        case password
        /// A Kerberos principal and its password.
        case kerberos
        case token
    }

    let kind: Kind
    /// The methods that it is to answer, strongest first.
    let methods: [AuthenticationMethod]
    /// Of the strongest; nil where there is none.
    let realm: String?
    /// Whether whoever listens on the way can read it.
    let isReadable: Bool

    /// Nil where the challenges ask for nothing of that kind.
    /// - Parameter offers: those that can be answered, strongest first.
    init?(_ offers: [Offer]) {
        let wanting = { (credential: AuthenticationMethod.Traits.Credential) in
            offers.filter { offer in
                let traits = offer.space.authenticationMethod.traits
                // A login by form takes more than a user and a password.
                return traits.credential == credential && traits.consent != .form
            }
        }
        let (passwords, tickets) = (wanting(.password), wanting(.ticket))
        let (kind, all): (Kind, [Offer]) =
            if !passwords.isEmpty {
                (.password, passwords)
            } else if !tickets.isEmpty {
                (.kerberos, tickets)
            } else {
                (.token, wanting(.token))
            }
        // A password that can be kept from those who listen is never shown to them.
        let safe = all.filter { $0.space.receivesCredentialSecurely }
        let chosen = safe.isEmpty ? all : safe
        guard let first = chosen.first else { return nil }
        self.kind = kind
        var methods: [AuthenticationMethod] = []
        for offer in chosen where !methods.contains(offer.space.authenticationMethod) {
            methods.append(offer.space.authenticationMethod)
        }
        self.methods = methods
        realm = first.space.realm
        isReadable = safe.isEmpty
    }

    /// As the program asks for it.
    var userPrompt: String? {
        switch kind {
        case .password: "User: "
        case .kerberos: "User (a Kerberos principal, such as alice@EXAMPLE.COM): "
        case .token: nil
        }
    }

    /// The secret in a sentence.
    var noun: String { kind == .token ? "the token" : "the password" }

    var prompt: String { kind == .token ? "Token: " : "Password: " }

    /// As people write them.
    var words: String { methods.map(Self.title).joined(separator: ", ") }

    private static func title(_ method: AuthenticationMethod) -> String {
        method == .ntlm ? "NTLM" : method.rawValue.prefix(1).uppercased() + method.rawValue.dropFirst()
    }
}
