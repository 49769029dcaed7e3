import Model

/// Authentication methods.
public struct MethodSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public init(_ method: AuthenticationMethod) {
        self.init(rawValue: 1 << UInt16(method.traits.number))
    }

    public init(_ methods: some Sequence<AuthenticationMethod>) {
        self = methods.reduce(into: []) { $0.formUnion(MethodSet($1)) }
    }

    public func contains(_ method: AuthenticationMethod) -> Bool { contains(MethodSet(method)) }

    /// In the order of `AuthenticationMethod.allCases`.
    public var methods: [AuthenticationMethod] { AuthenticationMethod.allCases.filter { contains($0) } }

    /// Challenges of the TLS handshake. A rule speaks of them only if it says so: who writes `cancel` for a host means
    /// its login, and not that no one may connect to it.
    public static let tls = MethodSet([.clientCertificate, .serverTrust])
    /// Challenges of a response.
    public static let http = all.subtracting(tls)
    public static let all = MethodSet(AuthenticationMethod.allCases)
    /// Those that a rule means without naming any. With a password that is not Negotiate: the password would be taken to a
    /// KDC, and whoever has none wants the challenges beside it answered; nor a form, of which nothing would be known.
    var unnamed: MethodSet { self == .password ? MethodSet(AuthenticationMethod.ofPasswords) : self }

    /// Those that a user and a password can answer.
    public static let password = MethodSet(AuthenticationMethod.allCases.filter(\.traits.takesPasswords))
}

extension AuthenticationMethod {
    /// The methods that the word `default` means in a rule, as in Apple's model: a login by a user and a password.
    static let ofPasswords = allCases.filter { $0.traits.takesPasswords && $0.traits.consent == .none }
}
