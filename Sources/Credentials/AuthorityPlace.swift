/// Where the local authority's certificate and key are.
public enum AuthorityPlace: Sendable, Hashable {
    /// `ca.pem` and `ca.key` in a directory of the proxy's own; made when they are missing.
    case state(directory: String)
    /// Somebody else's, in PEM.
    case files(certificate: String, key: String, passphrase: ValueSource?)

    public var certificate: String {
        switch self {
        case .state(let directory): "\(directory)/ca.pem"
        case .files(let certificate, _, _): certificate
        }
    }

    public var key: String {
        switch self {
        case .state(let directory): "\(directory)/ca.key"
        case .files(_, let key, _): key
        }
    }

    /// What nobody else may do with the key, if it is ours. An operator's key is a secret like the others, and who may
    /// read a mounted one is often not the operator's to say.
    var forbiddenPermissions: UInt32 {
        switch self {
        case .state: 0o077
        case .files: 0
        }
    }
}
