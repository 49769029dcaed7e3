/// Why there are no anchors: the fault of whoever set up the machine or wrote the file.
public enum TrustAnchorsError: Error, Equatable, Sendable, CustomStringConvertible {
    case absent(path: String)
    case unreadable(path: String, reason: String)
    case damaged(path: String, CertificateError)
    case outOfMemory

    public var description: String {
        switch self {
        case .absent(let path): "there are no trust anchors: \(path) does not exist, and nothing else holds any"
        case .unreadable(let path, let reason): "cannot read the trust anchors in \(path): \(reason)"
        case .damaged(let path, let error): "no trust anchors in \(path): \(error)"
        case .outOfMemory: "no memory for the trust anchors"
        }
    }
}
