import TLS

/// Why a configured credential has no value, or not the newest.
public enum CredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    case unreadable(credential: String, path: String, cause: String)
    /// Nothing is in the file, not even a line end: it is about to be written, or never was.
    case empty(credential: String, path: String)
    case tooLarge(credential: String, path: String, limit: Int)
    case notText(credential: String, source: String)
    case noVariable(credential: String, variable: String)
    case unknown(credential: String)
    /// What was read is no certificate with its key.
    case identity(credential: String, source: String, IdentityError)

    public var description: String {
        switch self {
        case .unreadable(let credential, let path, let cause):
            "credential \(credential): cannot read \(path): \(cause)"
        case .empty(let credential, let path): "credential \(credential): \(path) is empty"
        case .tooLarge(let credential, let path, let limit):
            "credential \(credential): \(path) is larger than \(limit) bytes"
        case .notText(let credential, let source): "credential \(credential): \(source) is not UTF-8 text"
        case .noVariable(let credential, let variable):
            "credential \(credential): environment variable \(variable) is not set"
        case .identity(let credential, let source, let error): "credential \(credential): \(source): \(error)"
        case .unknown(let credential): "there is no credential \(credential)"
        }
    }
}
