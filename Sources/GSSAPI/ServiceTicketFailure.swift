import CGSSAPI

/// Why the KDC gave no ticket for a service to a principal that it had given one before.
struct ServiceTicketFailure {
    private let code: krb5_error_code
    private let service: String
    private let principal: String

    /// - Parameter service: its principal's name; the realm may be empty.
    init(_ code: krb5_error_code, service: String, principal: String) {
        self.code = code
        self.service = service.hasSuffix("@") ? String(service.dropLast()) : service
        self.principal = principal
    }

    func error(in context: KerberosContext) -> GSSAPIError {
        switch Int(code) {
        case Int(KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN):
            GSSAPIError(.unavailable, "the KDC knows no service \(service)")
        case Int(KRB5KRB_AP_ERR_TKT_EXPIRED), Int(KRB5KDC_ERR_NEVER_VALID):
            GSSAPIError(.unavailable, "the ticket of \(principal) has expired")
        default: KerberosFailure(code, principal: principal).error(in: context)
        }
    }
}
