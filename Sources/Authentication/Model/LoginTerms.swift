/// How a connection is logged in, where a rule wants it out of the ordinary.
public struct LoginTerms: Sendable, Hashable {
    /// The service to get a ticket for; nil: `HTTP` at the host.
    public var servicePrincipal: String?
    /// Whether the server may act in the credential's name elsewhere.
    public var delegates: Bool
    /// Whether the DNS is asked for the host's name.
    public var canonicalises: Bool

    public init(servicePrincipal: String? = nil, delegates: Bool = false, canonicalises: Bool = false) {
        self.servicePrincipal = servicePrincipal
        self.delegates = delegates
        self.canonicalises = canonicalises
    }
}
