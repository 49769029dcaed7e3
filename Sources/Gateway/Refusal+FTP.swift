import FTP
import HTTP
import Upstream

extension Refusal {
    /// The client's answer if an FTP server gave no response; nil if the client is gone.
    public init?(_ error: FTPSession.Failure, of server: FTPServer) {
        let peer = "\(server.host) port \(server.port)"
        switch error {
        case .unavailable(let sentence):
            self.init(.notImplemented, .proxyConfigurationError, "ftp URLs are not served here: \(sentence)")
        case .unspeakable:
            self.init(.badRequest, .httpRequestError, "this path is not possible for FTP")
        case .unreachable: self.init(.badGateway, .connectionRefused, "\(peer) did not accept a connection for ftp")
        case .timedOut: self.init(.gatewayTimeout, .connectionTimeout, "\(peer) did not answer by ftp in time")
        case .notSecured:
            self.init(
                .badGateway, .tlsProtocolError, "\(peer) offers no TLS, but its route requires it (upgrade)")
        case .insecure(let text):
            self.init(.badGateway, .tlsProtocolError, "TLS with \(peer) failed (\(text))")
        case .broken(let text): self.init(.badGateway, .connectionTerminated, "ftp with \(peer) failed (\(text))")
        case .loginRefused, .loginFailed, .refused, .cancelled: return nil
        }
    }
}
