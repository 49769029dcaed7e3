import Model

/// The credentials that clients may not bring to the servers of a rule with `authorization refuse`: names of fields and of
/// query parameters. The places of the rule's own credential are among them.
public struct RefusedCredentials: Sendable {
    public let rule: RuleReference
    /// Names of fields, in lower case. A field is also refused if its name has `_` for `-`.
    public let fields: [String]
    /// Names of parameters, in lower case.
    public let parameters: [String]

    /// The fields in which clients bring credentials.
    public static let usualFields = [
        "authorization", "cookie", "dpop", "x-api-key", "api-key", "x-auth-token", "x-access-token", "private-token",
        "x-goog-api-key", "x-amz-security-token", "x-vault-token",
    ]

    /// The query parameters in which clients bring credentials.
    static let usualParameters = ["access_token", "api_key", "apikey", "private_token", "x-amz-signature"]

    /// - Parameter challenge: the rule; nil is returned if it refuses no credentials.
    init?(_ challenge: Configuration.ChallengeRule) {
        guard challenge.authorization == .refuse else { return nil }
        rule = challenge.rule
        var (fields, parameters) = (Self.usualFields, Self.usualParameters)
        for placement in challenge.placements {
            switch placement.place {
            case .field(let name): fields.append(name.lowercased())
            case .parameter(let name): parameters.append(name.lowercased())
            case .placeholder(_, let names): fields += names
            }
        }
        self.fields = fields
        self.parameters = parameters
    }
}
