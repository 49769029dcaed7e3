import Bytes
import Crypto
import IO
import Transport

/// TLS at the administrator's listener.
public struct AdminSecurity: Sendable {
    /// Puts TLS between, as the server; the bytes that were read from the stream are the client's first.
    /// - Returns: whether there is TLS.
    let handshake: @Sendable (ByteStream, ByteBuffer) async -> Bool

    public init(handshake: @escaping @Sendable (ByteStream, ByteBuffer) async -> Bool) { self.handshake = handshake }
}

/// The people who log in to the dashboard with a password.
public struct AdminUsers: Sendable {
    public enum Verdict: Sendable {
        case right
        case wrong
        /// Too many passwords are looked at.
        case busy
    }

    let verify: @Sendable (_ user: String, _ password: Secret, _ client: WaitingClient) async -> Verdict

    public init(verify: @escaping @Sendable (String, Secret, WaitingClient) async -> Verdict) { self.verify = verify }
}
