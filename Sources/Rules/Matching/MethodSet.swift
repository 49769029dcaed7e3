import Model

/// A set of authentication methods.
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

    /// The methods, in the order of `AuthenticationMethod.allCases`.
    public var methods: [AuthenticationMethod] { AuthenticationMethod.allCases.filter { contains($0) } }

    /// The challenges of the TLS handshake. A rule covers them only if it names them: `cancel` for a host is meant for
    /// its login, not for every connection to it.
    public static let tls = MethodSet([.clientCertificate, .serverTrust])
    /// The challenges of a response.
    public static let http = all.subtracting(tls)
    public static let all = MethodSet(AuthenticationMethod.allCases)
    /// The methods that a rule covers without naming any. With a password, Negotiate is excluded: the password would be
    /// sent to a KDC, and users without a KDC want the other challenges answered. Forms are excluded because nothing is
    /// known about them. With a helper, so are certificates and unknown schemes.
    var unnamed: MethodSet {
        let usual = MethodSet(methods.filter { $0.isOfResponses && $0.traits.consent == .none })
        return usual.isEmpty ? self : usual
    }

    /// The methods that a user and a password can answer.
    public static let password = MethodSet(AuthenticationMethod.allCases.filter(\.traits.takesPasswords))
}

extension AuthenticationMethod {
    /// The methods that the word `default` means in a rule, as in Apple's model: a login with a user and a password.
    static let ofPasswords = allCases.filter { $0.traits.takesPasswords && $0.traits.consent == .none }
}
