import DNS
import IO
import TLS
import Transport

extension TrustProbe {
    /// The reason why no certificate of a server was received.
    public enum Failure: Error, Sendable, CustomStringConvertible {
        case unknownHost(Resolution.Failure)
        case unreachable(host: String, port: UInt16, IOError)
        case noTLS(host: String, port: UInt16, HandshakeError)
        /// The revocation lists that a route names for the host cannot be used.
        case noRevocationLists(host: String)

        public var description: String {
            switch self {
            case .unknownHost(let error): "\(error)"
            case .unreachable(let host, let port, .system(let errno, _)):
                "cannot connect to \(host) port \(port): \(IOError.sentence(for: errno))"
            case .unreachable(let host, let port, let error): "cannot connect to \(host) port \(port): \(error)"
            case .noTLS(let host, let port, let error): "\(host) port \(port) showed no certificate: \(error)"
            case .noRevocationLists(let host): "the revocation lists that a route names for \(host) cannot be read"
            }
        }
    }
}
