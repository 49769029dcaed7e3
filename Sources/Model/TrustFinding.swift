/// A finding of the evaluation of a server's certificate chain, by the word of the rule file.
public enum TrustFinding: String, Sendable, Hashable, CaseIterable {
    /// The chain is whole, and ends in a root that is no anchor.
    case unknownIssuer = "unknown-issuer"
    /// The server's own certificate is its own issuer, and is no anchor.
    case selfSigned = "self-signed"
    /// An issuer was not sent and is not known.
    case incompleteChain = "incomplete-chain"
    case expired
    case notYetValid = "not-yet-valid"
    /// No subject alternative name fits (RFC 9525 section 6); the common name is not looked at.
    case wrongName = "wrong-name"
    /// By a stapled response or a list; also where a list speaks for the certificate but cannot be relied on.
    case revoked
    /// A stapled OCSP response must come (RFC 7633) and none came, or one came that is not to be relied on (RFC 6066
    /// section 8).
    case missingStaple = "missing-staple"
    case weakKey = "weak-key"
    case weakSignature = "weak-signature"
    /// Key usage or extended key usage do not allow what the certificate is used for.
    case wrongUsage = "wrong-usage"
    case nameConstraints = "name-constraints"
    case pathLength = "path-length"
    /// An extension that is critical and not understood.
    case unknownExtension = "unknown-extension"
    /// A signature that does not fit, or a certificate that breaks RFC 5280 in another way.
    case invalid
}

/// Findings of an evaluation, or those that a rule names.
public struct TrustFindings: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

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
            }
    }

    public init(_ findings: some Sequence<TrustFinding>) {
        self = findings.reduce(into: []) { $0.formUnion(TrustFindings($1)) }
    }

    /// One by one, in the order of `TrustFinding.allCases`.
    public var findings: [TrustFinding] { TrustFinding.allCases.filter { contains($0) } }

    public func contains(_ finding: TrustFinding) -> Bool { contains(TrustFindings(finding)) }

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
    /// The two that say so.
    public static let weak: Self = [.weakKey, .weakSignature]
    public static let all = Self(TrustFinding.allCases)
}
