import COpenSSL
import Glibc

/// A session of a client with a server, and the trust under which it was made.
public struct StoredSession: Sendable {
    let session: LibraryObject
    let trust: ServerTrust
    /// Whether it may be used but once.
    let isSingleUse: Bool
    /// Seconds since 1970.
    let expiry: Int

    /// - Parameter session: an `SSL_SESSION`, whose reference this takes over.
    init(takingOwnership session: OpaquePointer, trust: ServerTrust) {
        self.session = LibraryObject(takingOwnership: session, free: { SSL_SESSION_free($0) })
        self.trust = trust
        isSingleUse = SSL_SESSION_get_protocol_version(session) >= TLSVersion.v13.rawValue
        expiry = SSL_SESSION_get_time(session).addingSaturated(SSL_SESSION_get_timeout(session))
    }

    /// Whether a server may still accept it.
    var isFresh: Bool { SSL_SESSION_is_resumable(session.pointer) == 1 && time(nil) < expiry }
}

extension Int {
    fileprivate func addingSaturated(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
