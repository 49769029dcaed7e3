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
