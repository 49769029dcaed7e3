import Bytes
import COpenSSL

/// The statement of a stapled OCSP response (RFC 6960, RFC 6066 section 8) about a certificate.
enum StapledResponse {
    case good
    /// The response is signed by a permitted signer. It counts even if it is no longer current.
    case revoked(date: WallTime?, reason: String?)
    /// The response must not be trusted, for this reason.
    case unusable(String)
    /// The server sent no response, or an unsigned error of the responder in its place.
    case absent

    /// Reads a response. `issuer` has signed `certificate`. Clocks may differ by five minutes.
    static func read(
        _ response: [UInt8]?, of certificate: Certificate, issuedBy issuer: Certificate, at time: WallTime
    ) -> StapledResponse {
        defer { ERR_clear_error() }
        guard let response, !response.isEmpty else { return .absent }
        guard response.count <= limit,
            let parsed = LibraryObject.decoded(
                response.span, by: { d2i_OCSP_RESPONSE(nil, $0, $1) }, free: { OCSP_RESPONSE_free($0) })
        else { return .unusable("is not an OCSP response") }
        defer { OCSP_RESPONSE_free(parsed) }
        guard OCSP_response_status(parsed) == OCSP_RESPONSE_STATUS_SUCCESSFUL else { return .absent }
        guard let basic = OCSP_response_get1_basic(parsed) else { return .unusable("is of an unknown kind") }
        defer { OCSP_BASICRESP_free(basic) }
        guard OCSPResponder.signed(basic, for: issuer, at: time) else {
            return .unusable("is not signed by the issuer or its delegate")
        }
        guard let single = single(in: basic, about: certificate, issuedBy: issuer) else {
            return .unusable("is about another certificate")
        }
        return read(single, at: time)
    }

    private static func read(_ single: OpaquePointer, at time: WallTime) -> StapledResponse {
        var reason: Int32 = -1
        var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var produced: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let status = OCSP_single_get0_status(single, &reason, &revoked, &produced, &next)
        guard status != V_OCSP_CERTSTATUS_REVOKED else {
            return .revoked(date: Certificate.Time.time(revoked), reason: RevocationLists.Reason.words(Int(reason)))
        }
        guard status == V_OCSP_CERTSTATUS_GOOD else {
            return .unusable("says that its responder does not know the certificate")
        }
        guard let begin = Certificate.Time.time(produced), begin <= time + skew else {
            return .unusable("is from the future")
        }
        // Without an end a replayed response could not be distinguished from a fresh one (RFC 5019 section 2.2.4).
        guard let end = Certificate.Time.time(next) else { return .unusable("has no end of validity") }
        guard end.seconds >= (time - skew).seconds else {
            return .unusable("expired on \(Certificate.Time.date(end))")
        }
        return .good
    }

    /// The entry for this certificate, identified by any digest.
    private static func single(
        in basic: OpaquePointer, about certificate: Certificate, issuedBy issuer: Certificate
    ) -> OpaquePointer? {
        for index in 0..<min(OCSP_resp_count(basic), Int32(limitOfAnswers)) {
            guard let single = OCSP_resp_get0(basic, index), let id = OCSP_SINGLERESP_get0_id(single) else { continue }
            var algorithm: OpaquePointer?
            OCSP_id_get0_info(nil, &algorithm, nil, nil, id)
            guard let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm))) else { continue }
            guard let expected = OCSP_cert_to_id(digest, certificate.handle, issuer.handle) else { continue }
            defer { OCSP_CERTID_free(expected) }
            if OCSP_id_cmp(id, expected) == 0 { return single }
        }
        return nil
    }

    private static let skew: Milliseconds = .seconds(300)
    private static let limit = 64 << 10
    private static let limitOfAnswers = 32
}
