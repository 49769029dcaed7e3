import Bytes
import COpenSSL
import Crypto
import Synchronization

extension ServerTLSContext {
    /// Has OpenSSL ask for the key of each ticket; its own is never changed.
    func keyTickets() throws(TLSError) {
        let callback: TicketCallback = { connection, name, vector, cipher, mac, sealing in
            guard let connection, let name, let vector, let cipher, let mac,
                let server = TLSConnection.owning(connection).server
            else { return -1 }
            defer { tls_clear_errors() }
            let isSealing = sealing == 1
            let answer =
                isSealing
                ? server.context.seal(name, vector, cipher, mac)
                : server.context.open(name, vector, cipher, mac)
            // A ticket of TLS 1.3 is good once (RFC 8446 appendix C.4).
            return answer == 1 && !isSealing && SSL_version(connection) == TLSVersion.v13.rawValue ? 2 : answer
        }
        try TLSContext.require(SSL_CTX_set_tlsext_ticket_key_evp_cb(context.pointer, callback) == 1)
    }

    private typealias TicketCallback =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, OpaquePointer?, OpaquePointer?,
            Int32
        ) -> Int32

    /// 1, or -1 when the connection has to fail.
    private func seal(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ mac: OpaquePointer
    ) -> Int32 {
        guard let key = try? tickets.withLock({ try $0.key(at: now()) }),
            RAND_bytes(vector, tls_ticket_vector_length) == 1
        else { return -1 }
        name.update(from: key.name, count: TicketKey.nameLength)
        return key.apply(to: cipher, mac, vector, sealing: true) ? 1 : -1
    }

    /// 1; 2 when a new ticket should follow; 0 for a ticket that nobody can open, after which a full handshake does.
    private func open(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ mac: OpaquePointer
    ) -> Int32 {
        let name = UnsafeBufferPointer(start: name, count: TicketKey.nameLength)
        guard let found = try? tickets.withLock({ try $0.key(named: name.span, at: now()) }) else { return 0 }
        guard found.key.apply(to: cipher, mac, vector, sealing: false) else { return -1 }
        return found.isOld ? 2 : 1
    }
}
