import Bytes
import Crypto
import IO
import Transport

/// TLS at the administrator's listener.
public struct AdminSecurity: Sendable {
    /// Starts TLS as the server. The bytes that were already read from the stream are the client's first.
    /// - Returns: whether TLS was established.
    let handshake: @Sendable (ByteStream, ByteBuffer) async -> Bool

    public init(handshake: @escaping @Sendable (ByteStream, ByteBuffer) async -> Bool) { self.handshake = handshake }

    /// The users who log in to the dashboard with a password.
    public struct Users: Sendable {
        public enum Verdict: Sendable {
            case right
            case wrong
            /// Too many passwords are being checked.
            case busy
        }

        let verify: @Sendable (_ user: String, _ password: Secret, _ client: WaitingClient) async -> Verdict

        public init(verify: @escaping @Sendable (String, Secret, WaitingClient) async -> Verdict) {
            self.verify = verify
        }
    }
}
