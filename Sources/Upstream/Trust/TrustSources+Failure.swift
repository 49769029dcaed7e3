import IO
import TLS

extension TrustSources {
    /// A problem of a file that trust depends on: it has no content, or not the newest, or covers less than it seems.
    /// Content that was read before stays in use.
    public enum Failure: Error, Sendable, CustomStringConvertible {
        case unreadable(path: String, FileError)
        case damaged(path: String, Certificate.Failure)
        /// The system's CA certificates cannot be read.
        case anchors(String)
        case deltaList(path: String)
        /// A certificate of a server or an issuer counted as not revoked because no list covers it.
        case unlisted(certificate: String, issuer: String, paths: [String])

        public var description: String {
            switch self {
            case .unreadable(let path, .tooLarge): "cannot read \(path): it is larger than \(TrustSources.limit) bytes"
            case .unreadable(let path, .system(let errno)): "cannot read \(path): \(IOError.sentence(for: errno))"
            case .damaged(let path, let error): "cannot use \(path): \(error)"
            case .anchors(let sentence): sentence
            case .deltaList(let path):
                "\(path) has a delta list, which is ignored: certificates that only this list names count as not revoked"
            case .unlisted(let certificate, let issuer, let paths):
                "no revocation list of \(issuer) in \(paths.joined(separator: " ")): what it issued, as \(certificate), counts "
                    + "as not revoked"
            }
        }
    }
}
