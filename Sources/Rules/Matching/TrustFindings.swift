/// Findings of an evaluation, or those that a rule speaks of.
public struct TrustFindings: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// One finding; of `weak`, the two it stands for.
    public init(_ finding: TrustFinding) {
        self =
            switch finding {
            case .unknownIssuer: .unknownIssuer
            case .selfSigned: .selfSigned
            case .incompleteChain: .incompleteChain
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .wrongName: .wrongName
            case .revoked: .revoked
            case .missingStaple: .missingStaple
            case .weakKey: .weakKey
            case .weakSignature: .weakSignature
            case .wrongUsage: .wrongUsage
            case .nameConstraints: .nameConstraints
            case .pathLength: .pathLength
            case .unknownExtension: .unknownExtension
            case .invalid: .invalid
            case .weak: .weak
            }
    }

    public init(_ findings: some Sequence<TrustFinding>) {
        self = findings.reduce(into: []) { $0.formUnion(TrustFindings($1)) }
    }

    /// One by one, in the order of `TrustFinding.allCases`; never `weak`.
    public var findings: [TrustFinding] {
        TrustFinding.allCases.filter { $0 != .weak && contains(TrustFindings($0)) }
    }

    /// The words of the rule file.
    public var description: String { findings.map(\.rawValue).joined(separator: " ") }

    public static let unknownIssuer = Self(rawValue: 1 << 0)
    public static let selfSigned = Self(rawValue: 1 << 1)
    public static let incompleteChain = Self(rawValue: 1 << 2)
    public static let expired = Self(rawValue: 1 << 3)
    public static let notYetValid = Self(rawValue: 1 << 4)
    public static let wrongName = Self(rawValue: 1 << 5)
    public static let revoked = Self(rawValue: 1 << 6)
    public static let missingStaple = Self(rawValue: 1 << 7)
    public static let weakKey = Self(rawValue: 1 << 8)
    public static let weakSignature = Self(rawValue: 1 << 9)
    public static let wrongUsage = Self(rawValue: 1 << 10)
    public static let nameConstraints = Self(rawValue: 1 << 11)
    public static let pathLength = Self(rawValue: 1 << 12)
    public static let unknownExtension = Self(rawValue: 1 << 13)
    public static let invalid = Self(rawValue: 1 << 14)
    public static let weak: Self = [.weakKey, .weakSignature]
}

/// A finding of the evaluation of a server's certificate chain, as the rule file names it: the findings of `TLS`, word
/// for word, and `weak` for those two that say so.
public enum TrustFinding: String, Sendable, CaseIterable {
    case unknownIssuer = "unknown-issuer"
    case selfSigned = "self-signed"
    case incompleteChain = "incomplete-chain"
    case expired
    case notYetValid = "not-yet-valid"
    case wrongName = "wrong-name"
    case revoked
    case missingStaple = "missing-staple"
    case weakKey = "weak-key"
    case weakSignature = "weak-signature"
    case wrongUsage = "wrong-usage"
    case nameConstraints = "name-constraints"
    case pathLength = "path-length"
    case unknownExtension = "unknown-extension"
    case invalid
    /// `weak-key` and `weak-signature`. No evaluation finds it.
    case weak

    /// Whether a stranger on the way can present a chain with this finding, in the server's place.
    var isForgeable: Bool {
        switch self {
        case .unknownIssuer, .selfSigned, .incompleteChain, .wrongName, .invalid: true
        default: false
        }
    }
}
