import Model

extension Configuration {
    /// The clients that may use the proxy.
    public struct Clients: Sendable, Equatable {
        /// The methods by which a client may authenticate.
        public enum Method: String, Sendable, CaseIterable {
            /// Basic (RFC 7617), against `users`.
            case basic
            /// Digest (RFC 7616), against `users`.
            case digest
            /// Negotiate (RFC 4559), with `keytab`.
            case negotiate
            /// Bearer (RFC 6750), against `tokens`.
            case bearer
        }

        /// The addresses that may connect; by default only the machine itself.
        public var allow: [AddressPrefix] = AddressClass.loopback.prefixes
        /// The methods in the order in which they are offered; empty if clients need not authenticate.
        public var methods: [Method] = []
        /// The file of htpasswd and htdigest lines.
        public var users: ValueSource?
        /// The key that nonces are made from. Processes with the same key accept each other's nonces. Nil for a key of
        /// the process's own.
        public var nonceKey: ValueSource?
        /// The path of the keytab.
        public var keytab: String?
        /// The principals that may log in with a ticket. By default every user, of any realm that the KDC admits.
        public var principals: [PrincipalPattern] = [.users]
        /// The file of names and the hashes of their tokens.
        public var tokens: ValueSource?
        /// The realm, in ASCII: some clients, such as Java's, do Digest for no other.
        public var realm = "Attache"

        public init() {}

        /// Whether a Kerberos principal may use the proxy.
        public func admits(principal: String) -> Bool { principals.contains { $0.matches(principal) } }
    }
}
