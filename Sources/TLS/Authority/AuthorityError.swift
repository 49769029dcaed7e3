/// Why there is no authority, or why it does not speak for a name.
public enum AuthorityError: Error, Sendable, Hashable, CustomStringConvertible {
    case identity(IdentityError)
    /// Its basic constraints or its key usage do not let it sign certificates.
    case mayNotSign
    case expired
    case notYetValid
    /// Its name constraints exclude the name.
    case outOfBounds(ServerName)
    /// No certificate can be made out to it.
    case unusableName(ServerName)
    /// Nothing that anybody outside did.
    case outOfMemory

    public var description: String {
        switch self {
        case .identity(let error): "\(error)"
        case .mayNotSign: "the certificate is not an authority's: it may not sign others"
        case .expired: "the authority's certificate has expired"
        case .notYetValid: "the authority's certificate is not valid yet"
        case .outOfBounds(let name): "the authority's name constraints do not let it speak for \(name)"
        case .unusableName(let name): "no certificate can be made out to the name '\(name)'"
        case .outOfMemory: "OpenSSL has no memory left"
        }
    }
}
