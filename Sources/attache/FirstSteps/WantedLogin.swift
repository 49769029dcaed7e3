import Authentication
import Model

/// The kind of credential that a server asks for, among those that a person can type.
struct WantedLogin {
    enum Kind: Equatable {
        case password
        /// A Kerberos principal and its password.
        case kerberos
        case token
    }

    let kind: Kind
    /// The methods that it must answer, strongest first.
    let methods: [AuthenticationMethod]
    /// The realm of the strongest; nil if it has none.
    let realm: String?
    /// The protection spaces that it is for, the strongest method first.
    let spaces: [ProtectionSpace]
    /// Whether anyone on the way can read it.
    let isReadable: Bool

    /// Nil if no challenge asks for a login of these kinds.
    /// - Parameters:
    ///   - offers: those that can be answered, strongest first.
    ///   - wanted: the kind of login that there is; nil: any, a password first.
    init?(_ offers: [Offer], for wanted: Kind? = nil) {
        let wanting = { (credential: AuthenticationMethod.Traits.Credential) in
            offers.filter { offer in
                let traits = offer.space.authenticationMethod.traits
                // A login by form takes more than a user and a password.
                return traits.credential == credential && traits.consent != .form
            }
        }
        let byKind: [(kind: Kind, offers: [Offer])] = [
            (.password, wanting(.password)), (.kerberos, wanting(.ticket)), (.token, wanting(.token)),
        ]
        let found = byKind.first { !$0.offers.isEmpty && (wanted == nil || wanted == $0.kind) }
        guard let (kind, all) = found else { return nil }
        // A password is not sent in a readable form if a safe method is offered.
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
        spaces = chosen.map(\.space)
        isReadable = safe.isEmpty
    }

    /// The secret, for use in a sentence.
    var noun: String { kind == .token ? "the token" : "the password" }

    /// The methods as people write them.
    var words: String { Self.words(methods) }

    static func words(_ methods: [AuthenticationMethod]) -> String { methods.map(title).joined(separator: ", ") }

    private static func title(_ method: AuthenticationMethod) -> String {
        method == .ntlm ? "NTLM" : method.rawValue.prefix(1).uppercased() + method.rawValue.dropFirst()
    }
}
