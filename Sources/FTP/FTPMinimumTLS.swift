import CCurl

/// The oldest version of TLS that a server may speak.
public enum FTPMinimumTLS: Sendable {
    case v10, v11, v12, v13

    var curl: Int {
        switch self {
        case .v10: CURL_SSLVERSION_TLSv1_0
        case .v11: CURL_SSLVERSION_TLSv1_1
        case .v12: CURL_SSLVERSION_TLSv1_2
        case .v13: CURL_SSLVERSION_TLSv1_3
        }
    }
}
