import COpenSSL
import Model

@testable import TLS

/// A stapled OCSP response that a test made, in DER.
enum TestStaple {
    enum Status {
        case good
        case revoked(reason: Int32)
        case unknown
    }

    /// Times in hours from the tests' now; `end` nil leaves nextUpdate out.
    static func make(
        for leaf: TestCertificate, issuedBy issuer: TestCertificate, _ status: Status = .good,
        signedBy signer: TestCertificate? = nil, enclosing: [TestCertificate] = [], from begin: Int = -2,
        until end: Int? = 48, digest: String = "SHA256", naming idDigest: String = "SHA1"
    ) -> [UInt8] {
        let basic = OCSP_BASICRESP_new()!
        defer { OCSP_BASICRESP_free(basic) }
        let id = OCSP_cert_to_id(EVP_get_digestbyname(idDigest), leaf.certificate.handle, issuer.certificate.handle)
        defer { OCSP_CERTID_free(id) }
        let from = ASN1_GENERALIZEDTIME_set(nil, TestCertificate.now + begin * 3_600)
        let until = end.map { ASN1_GENERALIZEDTIME_set(nil, TestCertificate.now + $0 * 3_600) } ?? nil
        let moment = ASN1_GENERALIZEDTIME_set(nil, TestCertificate.now - 86_400)
        defer {
            ASN1_GENERALIZEDTIME_free(from)
            ASN1_GENERALIZEDTIME_free(until)
            ASN1_GENERALIZEDTIME_free(moment)
        }
        switch status {
        case .good: OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_GOOD, 0, nil, from, until)
        case .revoked(let reason):
            OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_REVOKED, reason, moment, from, until)
        case .unknown: OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_UNKNOWN, 0, nil, from, until)
        }
        for certificate in enclosing { OCSP_basic_add1_cert(basic, certificate.certificate.handle) }
        let signer = signer ?? issuer
        let md = EVP_get_digestbyname(digest)
        let signed = OCSP_basic_sign(
            basic, signer.certificate.handle, signer.key.handle, md, nil, UInt(OCSP_NOCERTS | OCSP_RESPID_KEY))
        precondition(signed == 1, "no signature of the response")
        return encoded(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic))
    }

    static func error(_ status: Int32) -> [UInt8] { encoded(OCSP_response_create(status, nil)) }

    private static func encoded(_ response: OpaquePointer?) -> [UInt8] {
        defer { OCSP_RESPONSE_free(response) }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_OCSP_RESPONSE(response, &encoded))
        defer { CRYPTO_free(encoded, nil, 0) }
        return [UInt8](UnsafeBufferPointer(start: encoded, count: count))
    }
}
