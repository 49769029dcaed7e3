import COpenSSL
import Crypto

/// Decides about the servers that another library shakes hands with: their chains are judged as ours are, and the
/// library's own checks do not count.
public final class ForeignHandshakes {
    private let judge: (PresentedChain) -> Bool

    /// - Parameter judge: called in the middle of a handshake; false breaks it off.
    public init(judge: @escaping (PresentedChain) -> Bool) { self.judge = judge }

    /// From now on decides for that context, which must not outlive the object.
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
        let stack = X509_STORE_CTX_get0_untrusted(evaluation)
        let exchange = tls_encrypts_key(connection) ? PresentedChain.KeyExchange.encrypted : .signed
        guard let chain = PresentedChain(borrowing: stack, staple: nil, keyExchange: exchange), judge(chain) else {
            X509_STORE_CTX_set_error(evaluation, X509_V_ERR_CERT_REJECTED)
            return 0
        }
        X509_STORE_CTX_set_error(evaluation, X509_V_OK)
        return 1
    }
}
