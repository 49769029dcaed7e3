import COpenSSL
import Synchronization

@testable import TLS

/// Holds the last session that it was given, which a cache would give away but once.
final class KeptSession: SessionSlot {
    private let kept = Mutex<StoredSession?>(nil)

    func take() -> StoredSession? { kept.withLock { $0 } }
    func keep(_ session: StoredSession) { kept.withLock { $0 = session } }

    /// The name of the key that a session's ticket is sealed with.
    static func ticketName(of session: OpaquePointer?) -> [UInt8]? {
        guard let session else { return nil }
        var start: UnsafePointer<UInt8>?
        var count = 0
        SSL_SESSION_get0_ticket(session, &start, &count)
        return start.map {
            Array(UnsafeBufferPointer(start: $0, count: min(count, ServerTLSContext.TicketKeys.Key.nameLength)))
        }
    }
}
