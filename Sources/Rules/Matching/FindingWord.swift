import Model

/// A word of the rule file for problems of a certificate: one of them, or `weak` for two of them.
public enum FindingWord: RawRepresentable, CaseIterable, Sendable, Hashable {
    case one(TrustFinding)
    case weak

    public static let allCases = TrustFinding.allCases.map { FindingWord.one($0) } + [.weak]

    public init?(rawValue: String) {
        guard let word = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = word
    }

    public var rawValue: String {
        switch self {
        case .one(let finding): finding.rawValue
        case .weak: "weak"
        }
    }

    public var findings: TrustFindings {
        switch self {
        case .one(let finding): TrustFindings(finding)
        case .weak: .weak
        }
    }
}

extension TrustFinding {
    /// Whether an attacker on the network can present a chain with this problem in the place of the server.
    var isForgeable: Bool {
        switch self {
        case .unknownIssuer, .selfSigned, .incompleteChain, .wrongName, .invalid: true
        default: false
        }
    }
}
