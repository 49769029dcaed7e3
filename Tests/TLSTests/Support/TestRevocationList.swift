import Bytes
import COpenSSL

@testable import TLS

/// A revocation list that a test made, in DER.
enum TestRevocationList {
    /// Times in days from the tests' now.
    ///
    /// - Parameter base: the number of the list that this one extends.
    static func make(
        by issuer: TestCertificate, revoking serials: [Int64] = [], reason: Int? = nil, from begin: Int = -1,
        until end: Int = 7, signedBy key: TestKey? = nil, distributionPoint: String? = nil, base: Int64? = nil,
        namesKey: Bool = true
    ) -> [UInt8] {
        let list = X509_CRL_new()!
        defer { X509_CRL_free(list) }
        X509_CRL_set_version(list, 1)
        X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer.certificate.handle))
        let time = ASN1_TIME_set(nil, TestCertificate.now + begin * 86_400)
        X509_CRL_set1_lastUpdate(list, time)
        ASN1_TIME_set(time, TestCertificate.now + end * 86_400)
        X509_CRL_set1_nextUpdate(list, time)
        ASN1_TIME_set(time, TestCertificate.now - 2 * 86_400)
        for serial in serials {
            let entry = X509_REVOKED_new()
            let number = ASN1_INTEGER_new()
            ASN1_INTEGER_set_int64(number, serial)
            X509_REVOKED_set_serialNumber(entry, number)
            X509_REVOKED_set_revocationDate(entry, time)
            ASN1_INTEGER_free(number)
            if let reason {
                let code = ASN1_ENUMERATED_new()
                ASN1_ENUMERATED_set(code, reason)
                X509_REVOKED_add1_ext_i2d(entry, NID_crl_reason, code, 0, 0)
                ASN1_ENUMERATED_free(code)
            }
            X509_CRL_add0_revoked(list, entry)
        }
        ASN1_TIME_free(time)
        var context = v3_ext_ctx()
        X509V3_set_ctx(&context, issuer.certificate.handle, nil, nil, list, 0)
        var extensions = namesKey ? [("authorityKeyIdentifier", "keyid:always")] : []
        if let distributionPoint {
            extensions.append(("issuingDistributionPoint", "critical,@\(distributionPoint.split(separator: "|")[0])"))
            let parts = distributionPoint.split(separator: "|")
            let configuration = NCONF_new(nil)
            let text = "[\(parts[0])]\n" + parts[1].split(separator: ",").joined(separator: "\n") + "\n"
            // The BIO reads where the bytes stand.
            Array(text.utf8).withUnsafeBytes { bytes in
                let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
                var line = 0
                NCONF_load_bio(configuration, source, &line)
                BIO_free(source)
            }
            X509V3_set_nconf(&context, configuration)
            for (name, value) in extensions { add(name, value, &context, configuration, list) }
            NCONF_free(configuration)
        } else {
            for (name, value) in extensions { add(name, value, &context, nil, list) }
        }
        if let base {
            let number = ASN1_INTEGER_new()
            ASN1_INTEGER_set_int64(number, base)
            X509_CRL_add1_ext_i2d(list, NID_delta_crl, number, 1, 0)
            ASN1_INTEGER_free(number)
        }
        X509_CRL_sort(list)
        X509_CRL_sign(list, (key ?? issuer.key).handle, EVP_get_digestbyname("SHA256"))
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_X509_CRL(list, &encoded))
        defer { CRYPTO_free(encoded, nil, 0) }
        return [UInt8](UnsafeBufferPointer(start: encoded, count: count))
    }

    private static func add(
        _ name: String, _ value: String, _ context: inout v3_ext_ctx, _ configuration: UnsafeMutablePointer<CONF>?,
        _ list: OpaquePointer
    ) {
        let made = X509V3_EXT_nconf(configuration, &context, name, value)
        precondition(made != nil, "no extension \(name) = \(value)")
        X509_CRL_add_ext(list, made, -1)
        X509_EXTENSION_free(made)
    }
}

extension TestRevocationList {
    static func pem(_ der: [UInt8]) -> [UInt8] {
        Array("Some text before\n-----BEGIN X509 CRL-----\n\(Base64.encode(der))\n-----END X509 CRL-----\n".utf8)
    }
}
