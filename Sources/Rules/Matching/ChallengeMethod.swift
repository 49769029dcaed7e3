/// An authentication method as the rule file names it.
public enum ChallengeMethod: UInt8, Sendable, CaseIterable, CustomStringConvertible {
    case basic
    case digest
    case ntlm
    case negotiate
    case bearer
    case htmlForm
    case clientCertificate
    case serverTrust
    /// A scheme that is none of the others.
    case unknown

    /// The word of the rule file, for example `html-form`.
    public var description: String {
        switch self {
        case .basic: "basic"
        case .digest: "digest"
        case .ntlm: "ntlm"
        case .negotiate: "negotiate"
        case .bearer: "bearer"
        case .htmlForm: "html-form"
        case .clientCertificate: "client-certificate"
        case .serverTrust: "server-trust"
        case .unknown: "default"
        }
    }

    public init?(_ word: String) {
        guard let method = Self.allCases.first(where: { $0.description == word }) else { return nil }
        self = method
    }
}

public struct MethodSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public init(_ method: ChallengeMethod) {
        self.init(rawValue: 1 << UInt16(method.rawValue))
    }

    public init(_ methods: some Sequence<ChallengeMethod>) {
        self = methods.reduce(into: []) { $0.formUnion(MethodSet($1)) }
    }

    public func contains(_ method: ChallengeMethod) -> Bool { contains(MethodSet(method)) }

    /// In the order of `ChallengeMethod.allCases`.
    public var methods: [ChallengeMethod] { ChallengeMethod.allCases.filter { contains($0) } }

    /// Challenges of the TLS handshake. A rule speaks of them only if it says so: who writes `cancel` for a host means
    /// its login, and not that no one may connect to it.
    public static let tls = MethodSet([.clientCertificate, .serverTrust])
    /// Challenges of a response.
    public static let http = all.subtracting(tls)
    public static let all = MethodSet(ChallengeMethod.allCases)
    /// Those that a rule means without naming any. With a password that is not Negotiate: the password would be taken to a
    /// KDC, and whoever has none wants the challenges beside it answered; nor a form, of which nothing would be known.
    var unnamed: MethodSet { self == .password ? subtracting(MethodSet([.negotiate, .htmlForm])) : self }

    /// Those that a user and a password can answer.
    public static let password = MethodSet([.basic, .digest, .ntlm, .negotiate, .htmlForm])
}

/// The protocol of a protection space; for a parent proxy, its type.
public enum ChallengeProtocol: String, Sendable, CaseIterable {
    case http
    case https
    case ftp
    case socks
}
