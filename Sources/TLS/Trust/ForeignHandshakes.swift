import COpenSSL
import Crypto

/// Decides about the servers of another library's handshakes. Their chains are judged like those of the proxy, in place
/// of the library's own checks.
public final class ForeignHandshakes {
    private let judge: (PresentedChain) -> Bool

    /// - Parameter judge: called during a handshake; false fails it.
    public init(judge: @escaping (PresentedChain) -> Bool) { self.judge = judge }

    /// Makes this object decide for that context. The context must not outlive the object.
    public func govern(_ context: ForeignTLSContext) {
        SSL_CTX_set_cert_verify_callback(
            OpaquePointer(context.pointer),
            { evaluation, judge in
                guard let evaluation, let judge, let connection = tls_connection_of(evaluation) else { return 0 }
                defer { tls_clear_errors() }
                return Unmanaged<ForeignHandshakes>.fromOpaque(judge).takeUnretainedValue()
                    .serverPresented(evaluation, on: connection)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func serverPresented(_ evaluation: OpaquePointer, on connection: OpaquePointer) -> Int32 {
        let exchange = tls_encrypts_key(connection) ? PresentedChain.KeyExchange.encrypted : .signed
        guard let chain = PresentedChain(in: evaluation, keyExchange: exchange), judge(chain) else {
            X509_STORE_CTX_set_error(evaluation, X509_V_ERR_CERT_REJECTED)
            return 0
        }
        X509_STORE_CTX_set_error(evaluation, X509_V_OK)
        return 1
    }
}
