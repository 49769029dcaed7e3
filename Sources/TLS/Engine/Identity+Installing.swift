import COpenSSL

extension Identity {
    /// Makes a connection show this identity, its intermediates included. False with a reason in OpenSSL's queue.
    func install(on connection: OpaquePointer) -> Bool {
        guard let issuers = tls_new_certificates() else { return false }
        defer { tls_free_certificates(issuers) }
        for certificate in intermediates where !tls_append_certificate(issuers, certificate.handle) { return false }
        return tls_use_identity(connection, leaf.handle, key.handle, issuers)
    }
}
