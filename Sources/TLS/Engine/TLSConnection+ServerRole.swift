import Bytes
import COpenSSL

extension TLSConnection {
    /// The server's part of a connection: its certificate.
    final class ServerRole {
        /// The certificate that the server shows.
        enum Choice {
            case open
            case given(Identity)
            case refused
        }

        var choice: Choice
        /// The reason why a callback made the connection fail.
        private(set) var cause: TLSError?
        let context: ServerTLSContext
        /// Whether the client may choose `h2`.
        var offersHTTP2 = false

        init(_ context: ServerTLSContext, identity: Identity?) {
            self.context = context
            choice = identity.map(Choice.given) ?? .open
        }

        /// Handles the client's hello. A negative result pauses the handshake.
        func identityWanted(on connection: OpaquePointer) -> Int32 {
            switch choice {
            case .open: return -1
            case .given(let identity):
                if identity.install(on: connection) { return 1 }
                cause = .unusableIdentity(reason: OpenSSLErrors.take().reason)
                return 0
            case .refused:
                cause = .noIdentity(serverName: tls_server_name(connection).map { String(cString: $0) })
                return 0
            }
        }

        /// The position in the client's list of the first of our protocols that it contains (RFC 7301 section 3.1).
        /// - Parameter permitsHTTP2: whether `h2` comes before them.
        func chooseProtocol(from offered: Span<UInt8>, permitsHTTP2: Bool) -> Range<Int>? {
            for name in (permitsHTTP2 ? ["h2"] : []) + context.settings.applicationProtocols {
                var start = 0
                while start < offered.count {
                    let range = start + 1..<start + 1 + Int(offered[start])
                    guard range.upperBound <= offered.count else { break }
                    if offered.extracting(range).equals(name.utf8Span.span) { return range }
                    start = range.upperBound
                }
            }
            return nil
        }

        func clientPresented(_ evaluation: OpaquePointer) -> Int32 {
            guard case .requested(_, let isTrusted) = context.settings.clientCertificates,
                let chain = PresentedChain(in: evaluation, keyExchange: .signed), isTrusted(chain)
            else {
                cause = .clientRefused
                X509_STORE_CTX_set_error(evaluation, X509_V_ERR_CERT_REJECTED)
                return 0
            }
            X509_STORE_CTX_set_error(evaluation, X509_V_OK)
            return 1
        }
    }
}
