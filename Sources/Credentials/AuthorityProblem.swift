import IO
import TLS

/// Why the local authority is of no use, or what is to be known of it. A sentence reads well after `attache: `.
public enum AuthorityProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case missing(path: String, AuthorityPlace)
    case unreadable(path: String, cause: String)
    case empty(path: String)
    /// The key has more permissions than it may have.
    case exposedKey(path: String)
    /// What they hold cannot be used.
    case unusable(AuthorityPlace, AuthorityError)
    /// The passphrase has no value.
    case passphrase(CredentialError)
    /// It could not be made.
    case unwritable(cause: String)
    /// It is used, but its name constraints are not what the rule file says.
    case otherNames(certificate: String)
    /// It is used, but not for long.
    case expiresSoon(certificate: String, day: String)

    public var description: String {
        switch self {
        case .missing(let path, .files): "the authority: there is no file \(path)"
        case .missing(let path, .state):
            "the authority: there is no file \(path): bring it back, or make a new authority with "
                + "'attache authority renew'"
        case .unreadable(let path, let cause): "the authority: cannot read \(path): \(cause)"
        case .empty(let path): "the authority: \(path) is empty"
        case .exposedKey(let path): "the authority: others can read its key; run: chmod 600 \(path)"
        case .unusable(let place, let error): "the authority: \(place.certificate) with \(place.key): \(error)"
        case .passphrase(let error): "\(error)"
        case .unwritable(let cause): "the authority cannot be kept: \(cause)"
        case .otherNames(let certificate):
            "the authority: \(certificate) was made for other names than the rule file says; "
                + "'attache authority renew' makes one for these"
        case .expiresSoon(let certificate, let day):
            "the authority: \(certificate) expires on \(day); 'attache authority renew' makes a new one"
        }
    }

    /// Whether the authority is used all the same.
    public var isWarning: Bool {
        switch self {
        case .otherNames, .expiresSoon: true
        case .missing, .unreadable, .empty, .exposedKey, .unusable, .passphrase, .unwritable: false
        }
    }
}
