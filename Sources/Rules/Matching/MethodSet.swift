import Model

/// Authentication methods.
public struct MethodSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public init(_ method: AuthenticationMethod) {
        self.init(rawValue: 1 << UInt16(method.number))
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
    var unnamed: MethodSet { self == .password ? subtracting(MethodSet([.negotiate, .htmlForm])) : self }

    /// Those that a user and a password can answer.
    public static let password = MethodSet([.basic, .digest, .ntlm, .negotiate, .htmlForm])
}

extension AuthenticationMethod {
    /// The methods that the word `default` means in a rule, as in Apple's model: a login by a user and a password.
    static let ofPasswords: [AuthenticationMethod] = [.basic, .digest, .ntlm]

    /// Its place among all cases.
    var number: Int {
        switch self {
        case .basic: 0
        case .digest: 1
        case .ntlm: 2
        case .negotiate: 3
        case .bearer: 4
        case .htmlForm: 5
        case .clientCertificate: 6
        case .serverTrust: 7
        case .other: 8
        case .default: 9
        }
    }
}
