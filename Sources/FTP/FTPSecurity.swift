import CCurl
import Crypto

/// How TLS is spoken with a server, where it offers TLS.
public struct FTPSecurity {
    /// The oldest version that may be spoken.
    public enum Version: Sendable {
        case v10, v11, v12, v13
    }

    let minimum: Version
    let isRequired: Bool
    let govern: (ForeignTLSContext) -> Void

    /// - Parameters:
    ///   - isRequired: whether a server that offers none gets neither user nor password.
    ///   - govern: sees to it that the context trusts whom it should.
    public init(minimum: Version = .v12, isRequired: Bool, govern: @escaping (ForeignTLSContext) -> Void) {
        self.minimum = minimum
        self.isRequired = isRequired
        self.govern = govern
    }

    func configure(_ handle: CurlHandle) {
        // Once TLS is offered, it has to come to a good end; and the certificate is judged by `govern` alone.
        handle.set(CURLOPT_USE_SSL, Int((isRequired ? CURLUSESSL_ALL : CURLUSESSL_TRY).rawValue))
        handle.set(CURLOPT_SSL_VERIFYPEER, true)
        handle.set(CURLOPT_SSL_VERIFYHOST, false)
        handle.set(CURLOPT_CAINFO, nil)
        handle.set(CURLOPT_CAPATH, nil)
        switch minimum {
        case .v10: handle.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_0)
        case .v11: handle.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_1)
        case .v12: handle.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        case .v13: handle.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_3)
        }
    }
}
