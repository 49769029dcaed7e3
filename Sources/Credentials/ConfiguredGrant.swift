import Authentication

/// What a token is given for as the rule file states it: where its parts are to be found.
public struct ConfiguredGrant: Sendable, Hashable {
    public enum Proof: Sendable, Hashable {
        case none
        case secret(ValueSource, inBody: Bool)
        /// The path of a PEM file.
        case key(path: String, passphrase: ValueSource?, id: String?)
        case certificate(ConfiguredIdentity)
    }

    public enum Kind: Sendable, Hashable {
        case clientCredentials
        case refreshToken(ValueSource)
        case assertion(ValueSource)
    }

    public let endpoint: TokenEndpoint
    public let clientID: String
    public let proof: Proof
    public let kind: Kind
    public let scopes: [String]
    public let audience: String?

    public init(
        endpoint: TokenEndpoint, clientID: String, proof: Proof, kind: Kind, scopes: [String], audience: String?
    ) {
        self.endpoint = endpoint
        self.clientID = clientID
        self.proof = proof
        self.kind = kind
        self.scopes = scopes
        self.audience = audience
    }
}
