import IO
import TLS

/// Why a file that trust depends on has no content, or not the newest. What was read before holds.
public enum TrustSourceError: Error, Sendable, CustomStringConvertible {
    case unreadable(path: String, FileError)
    case damaged(path: String, CertificateError)
    /// The system's anchors.
    case anchors(String)

    public var description: String {
        switch self {
        case .unreadable(let path, .tooLarge): "cannot read \(path): it is larger than \(TrustSources.limit) bytes"
        case .unreadable(let path, .system(let errno)): "cannot read \(path): \(IOError.sentence(for: errno))"
        case .damaged(let path, let error): "cannot use \(path): \(error)"
        case .anchors(let sentence): sentence
        }
    }
}
