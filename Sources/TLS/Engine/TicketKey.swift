import COpenSSL
import Crypto

/// What tickets are sealed with (RFC 5077 section 4): AES-256 in CBC, then HMAC-SHA-256.
struct TicketKey: Sendable {
    /// Stands in front of each ticket.
    let name: [UInt8]
    /// The cipher's key, then the MAC's.
    private let secret: Secret

    static let nameLength = 16

    init() throws(CryptoError) {
        name = try RandomBytes.make(Self.nameLength)
        var bytes = try RandomBytes.make(Int(tls_ticket_secret_length))
        secret = Secret(wiping: &bytes)
    }

    /// Makes the contexts ready to seal or to open a ticket.
    func apply(
        to cipher: OpaquePointer, _ mac: OpaquePointer, _ vector: UnsafePointer<UInt8>, sealing isSealing: Bool
    ) -> Bool {
        secret.withBytes { bytes in
            bytes.withUnsafeBufferPointer { tls_key_ticket(cipher, mac, $0.baseAddress, vector, isSealing) }
        }
    }
}
