import COpenSSL

extension TLSConnection {
    /// Goes on with the handshake as far as it goes. After a question it goes on once the question is answered.
    ///
    /// - Throws: why there will be no connection. The peer was told by an alert, where that was possible.
    public func handshake() throws(TLSError) -> HandshakeStep {
        switch state {
        case .open: return .done
        case .failed(let error): throw error
        case .handshaking: break
        }
        _ = port.flush()
        if case .refused = client?.trust { try refuseServer() }
        tls_clear_errors()
        let result = SSL_do_handshake(handle)
        if result == 1 { return try finish() }
        switch (SSL_get_error(handle, result), client?.trust) {
        // Before TLS 1.3 it stops where it would answer the server, by when a stapled response has come too.
        case (SSL_ERROR_WANT_RETRY_VERIFY, .asked(let chain)), (SSL_ERROR_WANT_WRITE, .asked(let chain)),
            (SSL_ERROR_WANT_X509_LOOKUP, .asked(let chain)):
            return .serverTrust(chain.stapled(with: staple))
        case (SSL_ERROR_WANT_X509_LOOKUP, _): return .serverIdentity(serverName: serverName)
        case (SSL_ERROR_WANT_READ, _), (SSL_ERROR_WANT_WRITE, _): return .wouldBlock
        case (SSL_ERROR_ZERO_RETURN, _) where port.end == nil: throw fail(.alert(.closeNotify))
        default: throw fail(reasonForFailing)
        }
    }

    /// The answer to `serverTrust` is yes. Holds for as long as the server stays the same, and for what is resumed.
    public func trust(_ trust: ServerTrust) {
        if let client, client.isSilent { client.trust = .given(trust) }
    }

    /// The answer to `serverTrust` is no: the handshake goes on to its end.
    public func refuseTrust() {
        if let client, client.isSilent { client.trust = .refused }
    }

    /// The answer to `serverIdentity`.
    public func setIdentity(_ identity: Identity) { server?.answer = .given(identity) }

    /// There is no answer to `serverIdentity`: the handshake goes on to its end.
    public func refuseIdentity() { server?.answer = .refused }

    /// Tells the server what we think of its certificate.
    ///
    /// Since TLS 1.3 OpenSSL does, since it waits for the answer. Before, it has gone past the certificate, and made an
    /// answer that was held back; no cipher protects yet what the server hears from us.
    private func refuseServer() throws(TLSError) {
        if version == .v13 { return }
        let contents: [UInt8] = [2, TLSAlert.badCertificate.rawValue]
        port.sendPlainly([21, 3, 3, 0, UInt8(contents.count)] + contents)
        throw fail(.trustRefused)
    }

    private func finish() throws(TLSError) -> HandshakeStep {
        if let client {
            switch client.trust {
            case .given: break
            case .open:
                guard isResumed, let session = client.resumed else { fallthrough }
                client.trust = .given(session.trust)
            case .asked, .refused: throw fail(.local(reason: "the server's certificate was not judged"))
            }
        }
        state = .open
        return .done
    }
}
