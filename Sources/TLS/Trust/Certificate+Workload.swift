import COpenSSL
import Model

extension Certificate {
    /// The workload that the certificate is for, if it is an X.509-SVID (X509-SVID sections 2 and 4): it has one URI, which
    /// is a SPIFFE ID with a path, and is not that of a CA. The subject does not matter.
    public var workload: SPIFFEID? {
        let uris = subjectAlternativeNames.compactMap { name in
            if case .uri(let text) = name { text } else { nil }
        }
        guard uris.count == 1, X509_check_ca(handle) == 0 else { return nil }
        return SPIFFEID(uris[0])
    }
}
