extension Configuration {
    /// `listen ADDRESS:PORT [tls …]`.
    public struct Listener: Sendable, Equatable {
        /// The certificate that a listener shows to clients which connect by TLS. The files are read again when they change.
        public struct TLS: Sendable, Equatable {
            /// PEM: the listener's certificate, then its issuers.
            public let certificate: String
            /// PEM.
            public let key: String
            /// Nil: clients are not asked for a certificate.
            public let clients: Clients?

            /// `clients FILE [required]`: who may prove itself by a certificate.
            public struct Clients: Sendable, Equatable {
                /// PEM: the roots that a client's certificate must come from.
                public let authorities: String
                /// Whether a client without a certificate is refused.
                public let isRequired: Bool
            }
        }

        public let endpoint: Endpoint
        /// Nil: clients connect in clear.
        public let tls: TLS?

        public init(_ endpoint: Endpoint, tls: TLS? = nil) {
            self.endpoint = endpoint
            self.tls = tls
        }
    }
}
