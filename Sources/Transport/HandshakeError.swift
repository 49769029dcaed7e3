import IO
import TLS

/// Why there is no TLS on a stream.
public enum HandshakeError: Error, Equatable, Sendable {
    /// The connection underneath stopped, or the time limit passed.
    case connection(IOError)
    case tls(TLSError)

    init(_ error: TLSError) {
        self =
            if case .transport(let errno) = error {
                .connection(.system(errno: errno, operation: "cannot talk TLS"))
            } else {
                .tls(error)
            }
    }
}

extension HandshakeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .connection(let error): "\(error)"
        case .tls(let error): "\(error)"
        }
    }
}
