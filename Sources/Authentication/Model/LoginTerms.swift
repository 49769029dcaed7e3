/// How a connection is logged in, where a rule wants it out of the ordinary.
public struct LoginTerms: Sendable, Hashable {
    /// The service to get a ticket for; nil: `HTTP` at the host.
    public var servicePrincipal: String?
    /// Whether the server may act in the credential's name elsewhere.
    public var delegates: Bool
    /// Whether the DNS is asked for the host's name.
    public var canonicalises: Bool
    /// Milliseconds that a request waits for what the login needs from third parties; nil: as long as it takes.
    public var patience: Int?

    public init(
        servicePrincipal: String? = nil, delegates: Bool = false, canonicalises: Bool = false, patience: Int? = nil
    ) {
        self.patience = patience
        self.servicePrincipal = servicePrincipal
        self.delegates = delegates
        self.canonicalises = canonicalises
    }
}
