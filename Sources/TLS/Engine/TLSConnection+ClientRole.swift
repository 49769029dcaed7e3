import COpenSSL
import Model

extension TLSConnection {
    /// The client's part of a connection: it judges the server's certificate and answers the request for ours.
    final class ClientRole {
        /// The state of the decision whether the server is trusted.
        enum Trust {
            /// Becomes `asked` when the server's chain comes, or `given` when a session is resumed.
            case open
            /// The decision is pending, and sending is forbidden. Becomes `given` or `refused`.
            case asked(PresentedChain)
            case given(ServerTrust)
            case refused
        }

        var trust = Trust.open
        /// The reason why a callback made the connection fail.
        private(set) var cause: TLSError?
        /// The answer to the server's latest request for a certificate.
        private(set) var identityAnswer = TLSConnection.IdentityAnswer.notRequested
        /// The session that is resumed, if the server agrees.
        let resumed: StoredSession?
        private let sessions: (any SessionSlot)?
        private let chooseIdentity: (([DistinguishedName]) -> Identity?)?

        init(sessions: (any SessionSlot)?, chooseIdentity: (([DistinguishedName]) -> Identity?)?) {
            self.sessions = sessions
            self.chooseIdentity = chooseIdentity
            resumed = sessions?.take()
        }

        /// Whether sending must wait for the trust decision.
        var isSilent: Bool {
            if case .asked = trust { true } else { false }
        }

        /// Handles the server's chain, at first or after renegotiation.
        ///
        /// The handshake of TLS 1.3 pauses here. Before TLS 1.3, a stapled response follows the chain, so the handshake
        /// continues until it would send.
        func serverPresented(_ evaluation: OpaquePointer, on connection: OpaquePointer) -> Int32 {
            switch trust {
            case .open:
                let exchange = tls_encrypts_key(connection) ? PresentedChain.KeyExchange.encrypted : .signed
                guard let chain = PresentedChain(in: evaluation, keyExchange: exchange) else { return 0 }
                trust = .asked(chain)
            case .given(let given):
                guard let leaf = X509_STORE_CTX_get0_cert(evaluation), X509_cmp(leaf, given.chain.leaf.handle) == 0
                else { return reject(evaluation, .serverChanged) }
                return accept(evaluation)
            case .asked: break
            case .refused: return reject(evaluation, .trustRefused)
            }
            if SSL_version(connection) >= TLSVersion.v13.rawValue { return tls_pause_verification(connection) ? 1 : 0 }
            return accept(evaluation)
        }

        private func accept(_ evaluation: OpaquePointer) -> Int32 {
            X509_STORE_CTX_set_error(evaluation, X509_V_OK)
            return 1
        }

        private func reject(_ evaluation: OpaquePointer, _ reason: TLSError) -> Int32 {
            cause = reason
            X509_STORE_CTX_set_error(evaluation, X509_V_ERR_CERT_REJECTED)
            return 0
        }

        /// Chooses the certificate that the server has asked for: in the handshake, by renegotiation or after the
        /// handshake of TLS 1.3.
        /// - Returns: 1 to continue, also without a certificate; -1 to wait for the decision about the server;
        ///   0 to end the connection.
        func identityWanted(on connection: OpaquePointer) -> Int32 {
            if isSilent { return -1 }
            if TLSConnection.owning(connection).forbidsLaterIdentity {
                cause = .peer(reason: "the server asked for a certificate behind the handshake, which HTTP/2 forbids")
                return 0
            }
            SSL_certs_clear(connection)
            let issuers = PathVerification.Stack.objects(in: SSL_get0_peer_CA_list(connection))
            guard let identity = chooseIdentity?(issuers.compactMap { DistinguishedName(copying: $0) }) else {
                identityAnswer = .declined
                return 1
            }
            guard identity.install(on: connection) else {
                cause = .unusableIdentity(reason: OpenSSLErrors.take().reason)
                return 0
            }
            identityAnswer = .shown
            return 1
        }

        /// Stores a session that the server sent; true if it took over the reference.
        func keep(_ session: OpaquePointer, of connection: OpaquePointer) -> Bool {
            guard let sessions, case .given(let trust) = trust, SSL_SESSION_is_resumable(session) == 1 else {
                return false
            }
            let known = SSL_session_reused(connection) == 1 ? resumed?.chainSize : nil
            let chainSize = known ?? Self.chainSize(of: connection)
            sessions.keep(StoredSession(takingOwnership: session, trust: trust, chainSize: chainSize))
            return true
        }

        /// The size of the certificates that the server has presented, in bytes.
        private static func chainSize(of connection: OpaquePointer) -> Int {
            PathVerification.Stack.objects(in: SSL_get_peer_cert_chain(connection)).reduce(0) { size, certificate in
                size + Int(max(0, i2d_X509(certificate, nil)))
            }
        }
    }
}
