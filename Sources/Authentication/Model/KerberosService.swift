/// Whom a ticket is for, and what it may be used for.
public struct KerberosService: Sendable, Hashable {
    /// As a rule writes it: `SERVICE/HOST`, `SERVICE/HOST@REALM` or `SERVICE@HOST`.
    public let name: String
    /// Whether the name that the DNS has for the host takes its place.
    public let canonicalises: Bool
    /// Whether the server may act in the principal's name elsewhere.
    public let delegates: Bool
    /// Milliseconds that a request waits for a KDC; nil: as long as it takes.
    public let patience: Int?

    /// - Parameter host: that was asked for; whose `HTTP` service it is, unless the terms name another.
    public init(host: String, under terms: LoginTerms) {
        name = terms.servicePrincipal ?? "HTTP/\(host)"
        canonicalises = terms.canonicalises
        delegates = terms.delegates
        patience = terms.patience
    }
}
