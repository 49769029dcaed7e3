import Bytes
import Model

extension Configuration {
    /// The clients that may use the proxy.
    public struct Clients: Sendable, Equatable {
        /// How a client may say who it is.
        public enum Method: String, Sendable, CaseIterable {
            /// RFC 7617, against `users`.
            case basic
            /// RFC 7616, against `users`.
            case digest
            /// RFC 4559, with `keytab`.
            case negotiate
            /// RFC 6750, against `tokens`.
            case bearer
        }

        /// By default the machine itself only.
        public var allow: [AddressPrefix] = AddressClass.loopback.prefixes
        /// In the order in which they are offered; empty: nobody is asked.
        public var methods: [Method] = []
        /// A file of htpasswd and htdigest lines.
        public var users: ValueSource?
        /// From which nonces are made, so that every process that has it knows them; nil: one of the process's own.
        public var nonceKey: ValueSource?
        /// A path.
        public var keytab: String?
        /// Principals that may come with a ticket. By default every user, of whatever realm the KDC lets in.
        public var principals: [PrincipalPattern] = [.users]
        /// A file of names and the hashes of their tokens.
        public var tokens: ValueSource?
        /// In ASCII: some clients, Java's among them, cannot do Digest for any other.
        public var realm = "Attache"

        public init() {}

        /// Whether a Kerberos principal may use the proxy.
        public func admits(principal: String) -> Bool { principals.contains { $0.matches(principal) } }
    }
}
