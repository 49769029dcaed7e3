import Bytes
import COpenSSL

/// The permitted signer of an OCSP response (RFC 6960 section 4.2.2.2): the issuer of the certificate, or a responder
/// that this issuer has certified for it. Other signers are not accepted.
enum OCSPResponder {
    static func signed(_ response: OpaquePointer, for issuer: Certificate, at time: WallTime) -> Bool {
        guard signatureIsStrong(response) else { return false }
        if verifies(response, by: issuer.handle) { return true }
        return PathVerification.Stack.objects(in: OCSP_resp_get0_certs(response)).prefix(limit).contains { candidate in
            isDelegate(candidate, of: issuer, at: time) && verifies(response, by: candidate)
        }
    }

    /// Verifies the response with this signer as the only trusted one.
    private static func verifies(_ response: OpaquePointer, by signer: OpaquePointer) -> Bool {
        guard let signers = PathVerification.Stack([signer]) else { return false }
        let flags = UInt(OCSP_NOINTERN | OCSP_TRUSTOTHER)
        let verified = OCSP_basic_verify(response, signers.pointer, nil, flags) == 1
        ERR_clear_error()
        return verified
    }

    private static func isDelegate(_ candidate: OpaquePointer, of issuer: Certificate, at time: WallTime) -> Bool {
        let certificate = Certificate(borrowing: candidate)
        guard X509_check_issued(issuer.handle, candidate) == X509_V_OK,
            X509_get_extension_flags(candidate) & UInt32(EXFLAG_INVALID | EXFLAG_CRITICAL) == 0,
            X509_get_extended_key_usage(candidate) != UInt32.max,
            X509_get_extended_key_usage(candidate) & UInt32(XKU_OCSP_SIGN) != 0,
            X509_get_key_usage(candidate) & UInt32(X509v3_KU_DIGITAL_SIGNATURE) != 0,
            certificate.notBefore <= time, certificate.notAfter.seconds >= time.seconds,
            !certificate.hasLongExponent, let key = X509_get0_pubkey(candidate),
            EVP_PKEY_get_security_bits(key) >= Int32(SignatureStrength.enough),
            case .bits(SignatureStrength.enough...) = SignatureStrength(certificate),
            let issuing = X509_get0_pubkey(issuer.handle)
        else { return false }
        return X509_verify(candidate, issuing) == 1
    }

    /// False for MD5 and SHA-1: collisions are practical.
    private static func signatureIsStrong(_ response: OpaquePointer) -> Bool {
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, OCSP_resp_get0_tbs_sigalg(response))
        var digest: Int32 = 0
        guard OBJ_find_sigid_algs(OBJ_obj2nid(object), &digest, nil) == 1 else { return false }
        return ![NID_md2, NID_md4, NID_md5, NID_md5_sha1, NID_sha1, NID_ripemd160, NID_mdc2].contains(digest)
    }

    private static let limit = 8
}
