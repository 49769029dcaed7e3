import CGSSAPI

/// Why the KDC gave a principal no ticket.
struct InitialTicketFailure {
    enum Proof {
        case keytab(String)
        case password
    }

    private let code: krb5_error_code
    private let principal: String
    private let proof: Proof

    init(_ code: krb5_error_code, principal: String, proof: Proof) {
        self.code = code
        self.principal = principal
        self.proof = proof
    }

    func error(in context: KerberosContext) -> GSSAPIError {
        let shown =
            switch proof {
            case .password: "the password of \(principal)"
            case .keytab(let path): "the key of \(principal) in \(path)"
            }
        switch Int(code) {
        // The last is what a wrong key comes to where the KDC wants no proof before it answers.
        case Int(KRB5KDC_ERR_PREAUTH_FAILED), Int(KRB5KRB_AP_ERR_BAD_INTEGRITY):
            return GSSAPIError(.refused, "the KDC refused \(shown)")
        case Int(KRB5KDC_ERR_KEY_EXP): return GSSAPIError(.refused, "\(shown) has expired, says the KDC")
        case Int(KRB5KDC_ERR_CLIENT_REVOKED):
            return GSSAPIError(.refused, "the KDC has locked or disabled \(principal)")
        case Int(KRB5KDC_ERR_NAME_EXP):
            return GSSAPIError(.refused, "the account \(principal) has expired, says the KDC")
        case Int(KRB5KDC_ERR_C_PRINCIPAL_UNKNOWN):
            return GSSAPIError(.refused, "the KDC knows no principal \(principal)")
        case Int(KRB5_KT_NOTFOUND), Int(KRB5_KT_KVNONOTFOUND):
            return GSSAPIError(.unavailable, "there is no key that the KDC takes, as \(shown) would be")
        default: return KerberosFailure(code, principal: principal).error(in: context)
        }
    }
}
