import CGSSAPI

/// Why nothing could be had from a KDC, whatever was asked for.
struct KerberosFailure {
    private let code: krb5_error_code
    private let realm: String

    init(_ code: krb5_error_code, principal: String) {
        self.code = code
        realm = principal.lastIndex(of: "@").map { String(principal[principal.index(after: $0)...]) } ?? principal
    }

    func error(in context: KerberosContext) -> GSSAPIError {
        switch Int(code) {
        case Int(KRB5_KDC_UNREACH): GSSAPIError(.unavailable, "no KDC of \(realm) can be reached")
        case Int(KRB5_REALM_UNKNOWN), Int(KRB5_REALM_CANT_RESOLVE):
            GSSAPIError(.unavailable, "the Kerberos configuration has no KDC of \(realm)")
        case Int(KRB5KRB_AP_ERR_SKEW), Int(KRB5_KDCREP_SKEW):
            GSSAPIError(
                .clockSkew,
                "the clock here differs from that of the KDC of \(realm) by more than Kerberos allows (5 minutes)")
        case Int(KRB5KRB_AP_ERR_TKT_NYV):
            GSSAPIError(.clockSkew, "a ticket is not valid yet, so the clock here differs from that of the KDC")
        default: GSSAPIError(.unavailable, "Kerberos gave no ticket: \(context.words(for: code))")
        }
    }
}
