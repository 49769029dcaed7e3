extension Configuration {
    /// A listener, `listen ADDRESS:PORT …` or `listen unix:PATH …`.
    public struct Listener: Sendable, Equatable {
        /// The place where clients connect.
        public enum Place: Sendable, Hashable, CustomStringConvertible {
            case network(Endpoint)
            case local(Local)

            public var description: String {
                switch self {
                case .network(let endpoint): "\(endpoint)"
                case .local(let socket): "unix:\(socket.path)"
                }
            }
        }

        /// A socket in the file system.
        public struct Local: Sendable, Hashable {
            public let path: String
            /// The permissions of the socket's file.
            public var mode: UInt32 = 0o600
            /// The name or number of the group that owns the file; nil for the group of the process.
            public var group: String?

            public init(_ path: String) { self.path = path }
        }

        /// The certificate of a listener for clients with TLS. The files are read again when they change.
        public struct TLS: Sendable, Equatable {
            /// The PEM file with the listener's certificate, then its issuers.
            public let certificate: String
            /// The PEM file with the private key.
            public let key: String
            /// The settings for client certificates; nil if clients are not asked for one.
            public let clients: Clients?
            /// Whether clients may choose HTTP/2.
            public var offersHTTP2 = true

            /// The clients that may authenticate with a certificate: `clients FILE [required]`, or `clients spiffe
            /// DOMAIN FILE … [required]`.
            public struct Clients: Sendable, Equatable {
                /// The PEM file with the root certificates of client certificates; nil if only workloads have one.
                public let authorities: String?
                /// The trust domains of workloads.
                public var domains: [TrustDomain] = []
                /// Whether a client without a certificate is refused.
                public var isRequired: Bool
            }

            /// A trust domain (SPIFFE), whose workloads have X.509-SVIDs.
            public struct TrustDomain: Sendable, Equatable {
                public let name: String
                /// The PEM file with the root certificates of this domain alone.
                public let authorities: String
            }
        }

        public let place: Place
        /// The TLS settings; nil if clients connect without TLS.
        public var tls: TLS?
        /// The user that every client of this listener is (`as`); nil if clients say who they are.
        public var client: String?
        /// Whether clients may also speak SOCKS.
        public var speaksSOCKS = false
        /// Whether clients may also speak HTTP/2 without TLS (`h2c`).
        public var speaksHTTP2 = false
        /// The load balancers that connect for their clients (`proxy-protocol from`); empty: clients connect themselves.
        public var balancers: [AddressPrefix] = []
        /// Whether a firewall redirects clients here, which know of no proxy.
        public var isTransparent = false

        public init(_ place: Place) { self.place = place }
        public init(_ endpoint: Endpoint) { self.init(.network(endpoint)) }

        /// The address and the port; nil for a socket in the file system.
        public var endpoint: Endpoint? {
            if case .network(let endpoint) = place { endpoint } else { nil }
        }
    }
}
