/// A problem of a server's certificate chain, by its word in the rule file.
public enum TrustFinding: String, Sendable, Hashable, CaseIterable {
    /// The chain is complete, but ends in a root that is not trusted.
    case unknownIssuer = "unknown-issuer"
    /// The server's own certificate is its own issuer, and is not trusted.
    case selfSigned = "self-signed"
    /// An issuer was not sent and is not known.
    case incompleteChain = "incomplete-chain"
    case expired
    case notYetValid = "not-yet-valid"
    /// No subject alternative name matches (RFC 9525 section 6); the common name is ignored.
    case wrongName = "wrong-name"
    /// The certificate is revoked by a stapled response or a list. Also if a list covers the certificate but cannot be
    /// used.
    case revoked
    /// A stapled OCSP response is required (RFC 7633), but it is missing or cannot be used (RFC 6066 section 8).
    case missingStaple = "missing-staple"
    case weakKey = "weak-key"
    case weakSignature = "weak-signature"
    /// Key usage or extended key usage do not allow this use of the certificate.
    case wrongUsage = "wrong-usage"
    case nameConstraints = "name-constraints"
    case pathLength = "path-length"
    /// A critical extension is not supported.
    case unknownExtension = "unknown-extension"
    /// A signature is invalid, or a certificate violates RFC 5280 in another way.
    case invalid
}

/// The problems of an evaluation, or those that a rule names.
public struct TrustFindings: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// One problem. Its bit is the place of its case.
    public init(_ finding: TrustFinding) {
        self.init(rawValue: 1 << UInt32(TrustFinding.allCases.firstIndex(of: finding) ?? 0))
    }

    public init(_ findings: some Sequence<TrustFinding>) {
        self = findings.reduce(into: []) { $0.formUnion(TrustFindings($1)) }
    }

    /// The single problems, in the order of `TrustFinding.allCases`.
    public var findings: [TrustFinding] { TrustFinding.allCases.filter { contains($0) } }

    public func contains(_ finding: TrustFinding) -> Bool { contains(TrustFindings(finding)) }

    /// The words of the rule file.
    public var description: String { findings.map(\.rawValue).joined(separator: " ") }

    public static let unknownIssuer = Self(TrustFinding.unknownIssuer)
    public static let selfSigned = Self(TrustFinding.selfSigned)
    public static let incompleteChain = Self(TrustFinding.incompleteChain)
    public static let expired = Self(TrustFinding.expired)
    public static let notYetValid = Self(TrustFinding.notYetValid)
    public static let wrongName = Self(TrustFinding.wrongName)
    public static let revoked = Self(TrustFinding.revoked)
    public static let missingStaple = Self(TrustFinding.missingStaple)
    public static let weakKey = Self(TrustFinding.weakKey)
    public static let weakSignature = Self(TrustFinding.weakSignature)
    public static let wrongUsage = Self(TrustFinding.wrongUsage)
    public static let nameConstraints = Self(TrustFinding.nameConstraints)
    public static let pathLength = Self(TrustFinding.pathLength)
    public static let unknownExtension = Self(TrustFinding.unknownExtension)
    public static let invalid = Self(TrustFinding.invalid)
    /// The problems `weakKey` and `weakSignature`.
    public static let weak: Self = [.weakKey, .weakSignature]
    public static let all = Self(TrustFinding.allCases)
}

/// An operator's exception: a server with this key is trusted despite the problems of its certificate.
public struct TrustException: Hashable, Sendable {
    public let pin: KeyPin
    /// The last day of the exception.
    public let until: Day

    public init(pin: KeyPin, until: Day) {
        self.pin = pin
        self.until = until
    }
}
