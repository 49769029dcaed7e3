import CGSSAPI

/// The keys of a service, from a keytab: what logins of its clients are accepted with. Shared by all of them.
public final class AcceptorCredential: Sendable {
    /// The pointer's bits: the library locks what is behind it.
    private let bits: UInt
    private let tokens: SecurityTokens

    /// Reads the keytab, whose file is not looked at afterwards. Blocks. Make another when it has changed.
    ///
    /// - Parameter service: what clients ask a ticket for, on whatever host: `HTTP` for Negotiate (RFC 4559 section 4.1).
    ///   Keys of other services in the keytab accept nothing.
    public init(keytab path: String, service: String = "HTTP") throws(GSSAPIError) {
        let tokens = try SecurityTokens()
        do throws(GSSAPIError) {
            let keys = try MemoryKeytab(copying: path, of: service)
            let credential = try tokens.credential(
                [("keytab", keys.name)], usage: gss_cred_usage_t(GSS_C_ACCEPT), as: nil)
            bits = UInt(bitPattern: credential)
        } catch { throw GSSAPIError(.unavailable, "the keytab \(path) cannot be used: \(error)") }
        self.tokens = tokens
    }

    deinit { tokens.release(credential: handle) }

    var handle: gss_cred_id_t? { gss_cred_id_t(bitPattern: bits) }
}
