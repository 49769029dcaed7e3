extension Configuration {
    /// A listener, `listen ADDRESS:PORT [tls …]`.
    public struct Listener: Sendable, Equatable {
        /// The certificate of a listener for clients with TLS. The files are read again when they change.
        public struct TLS: Sendable, Equatable {
            /// The PEM file with the listener's certificate, then its issuers.
            public let certificate: String
            /// The PEM file with the private key.
            public let key: String
            /// The settings for client certificates; nil if clients are not asked for one.
            public let clients: Clients?

            /// The clients that may authenticate with a certificate, `clients FILE [required]`.
            public struct Clients: Sendable, Equatable {
                /// The PEM file with the root certificates of client certificates.
                public let authorities: String
                /// Whether a client without a certificate is refused.
                public let isRequired: Bool
            }
        }

        public let endpoint: Endpoint
        /// The TLS settings; nil if clients connect without TLS.
        public let tls: TLS?

        public init(_ endpoint: Endpoint, tls: TLS? = nil) {
            self.endpoint = endpoint
            self.tls = tls
        }
    }
}
