import Bytes
import COpenSSL

/// The subjectAltName of a server's certificate against the name it has to speak for (RFC 9525 section 6): host names
/// against dNSName, addresses against iPAddress. The common name is not looked at.
enum CertificateNames {
    static func speak(for name: ServerName, in certificate: Certificate) -> Bool {
        guard let decoded = X509_get_ext_d2i(certificate.handle, NID_subject_alt_name, nil, nil) else {
            ERR_clear_error()
            return false
        }
        let names = OpaquePointer(decoded)
        defer { GENERAL_NAMES_free(names) }
        switch name {
        case .host(let host):
            let bytes = Array(host.utf8)
            return bytes.withUnsafeBufferPointer { host in
                contains(names, GEN_DNS) { HostNameMatch.matches(presented: $0, host: host) }
            }
        case .address(let address):
            return contains(names, GEN_IPADD) { IPAddress(octets: $0) == address }
        }
    }

    private static func contains(
        _ names: OpaquePointer, _ kind: Int32, where fits: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        for index in 0..<max(0, OPENSSL_sk_num(names)) {
            guard let name = OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self),
                name.pointee.type == kind, let text = attache_general_name_text(name)
            else { continue }
            let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
            if fits(bytes) { return true }
        }
        return false
    }
}
