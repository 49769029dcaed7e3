import CGSSAPI

/// The keys of a service, from a keytab: what logins of its clients are accepted with. Shared by all of them.
public final class AcceptorCredential: Sendable {
    /// The pointer's bits: the library locks what is behind it.
    private let bits: UInt
    private let tokens: SecurityTokens

    /// Reads the keytab, whose file is not looked at afterwards. Blocks. Make another when it has changed.
    ///
    /// - Parameter principal: the only one to accept logins for; nil: any that the keytab has a key of.
    public init(keytab path: String, principal: String? = nil) throws(GSSAPIError) {
        let tokens = try SecurityTokens()
        var name: gss_name_t?
        if let principal { name = try tokens.name(principal) }
        defer { tokens.release(name: name) }
        do throws(GSSAPIError) {
            let keys = try MemoryKeytab(copying: path)
            let credential = try tokens.credential(
                [("keytab", keys.name)], usage: gss_cred_usage_t(GSS_C_ACCEPT), as: name)
            bits = UInt(bitPattern: credential)
        } catch { throw GSSAPIError(.unavailable, "the keytab \(path) cannot be used: \(error)") }
        self.tokens = tokens
    }

    deinit { tokens.release(credential: handle) }

    var handle: gss_cred_id_t? { gss_cred_id_t(bitPattern: bits) }
}
