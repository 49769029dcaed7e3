import Bytes
import COpenSSL
import Crypto

extension ServerTLSContext {
    /// The keys of a server's tickets. With a stolen key the sessions that its tickets resume can be decrypted, so each
    /// key is kept for a short time. A key seals for as long as a ticket is valid, and opens for as long again (RFC
    /// 5077 section 5.5 asks for regular changes).
    ///
    /// There is no timer: the next handshake removes an expired key.
    struct TicketKeys: Sendable {
        /// The lifetime of a ticket.
        let lifetime: Milliseconds
        private var current: ServerTLSContext.TicketKeys.Key
        private var previous: ServerTLSContext.TicketKeys.Key?
        private var began: WallTime

        init(lifetime: Milliseconds, at now: WallTime) throws(CryptoError) {
            self.lifetime = lifetime
            current = try ServerTLSContext.TicketKeys.Key()
            began = now
        }

        /// The key for a new ticket.
        mutating func key(at now: WallTime) throws(CryptoError) -> ServerTLSContext.TicketKeys.Key {
            try turn(at: now)
            return current
        }

        /// The key of a ticket that a client presents, and whether a new ticket should replace it.
        mutating func key(named name: Span<UInt8>, at now: WallTime) throws(CryptoError) -> (
            key: ServerTLSContext.TicketKeys.Key, isOld: Bool
        )? {
            try turn(at: now)
            if current.name.span.equals(name) { return (current, false) }
            if let previous, previous.name.span.equals(name) { return (previous, true) }
            return nil
        }

        /// Rotates an expired key. Also rotates it when the clock was set back, since the key's age is unknown then.
        private mutating func turn(at now: WallTime) throws(CryptoError) {
            guard now < began || now - began >= lifetime else { return }
            let fresh = try ServerTLSContext.TicketKeys.Key()
            previous = now < began || now - began < lifetime * 2 ? current : nil
            current = fresh
            began = now
        }

        /// A key that seals tickets (RFC 5077 section 4): AES-256 in CBC, then HMAC-SHA-256.
        struct Key: Sendable {
            /// The name at the beginning of each ticket.
            let name: [UInt8]
            /// The secret: the cipher's key, then the MAC's.
            private let secret: Secret

            static let nameLength = 16

            init() throws(CryptoError) {
                name = try RandomBytes.make(Self.nameLength)
                var bytes = try RandomBytes.make(Int(tls_ticket_secret_length))
                secret = Secret(wiping: &bytes)
            }

            /// Prepares the contexts to seal or open a ticket.
            func apply(
                to cipher: OpaquePointer, _ mac: OpaquePointer, _ vector: UnsafePointer<UInt8>, sealing isSealing: Bool
            ) -> Bool {
                secret.withBytes { bytes in
                    bytes.withUnsafeBufferPointer { tls_key_ticket(cipher, mac, $0.baseAddress, vector, isSealing) }
                }
            }
        }
    }
}
