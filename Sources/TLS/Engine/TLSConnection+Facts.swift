import COpenSSL
import Model

extension TLSConnection {
    public enum IdentityAnswer: Sendable {
        case notRequested
        case shown
        case declined
    }

    /// The answer to the server's latest request for a client certificate.
    public var identityAnswer: IdentityAnswer { client?.identityAnswer ?? .notRequested }

    /// The trust decision about the server: from this handshake or, if the session was resumed, from its first
    /// handshake.
    public var serverTrust: ServerTrust? {
        if case .given(let trust) = client?.trust { trust } else { nil }
    }

    /// The version; nil before both sides have agreed.
    public var version: TLSVersion? { TLSVersion(rawValue: SSL_version(handle)) }

    /// The cipher's name by the IANA: `TLS_AES_128_GCM_SHA256`.
    public var cipher: String? {
        SSL_get_current_cipher(handle).flatMap { SSL_CIPHER_standard_name($0) }.map { String(cString: $0) }
    }

    /// The protocol agreed on by ALPN.
    public var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(handle, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// The server name that the client sent, unchanged.
    public var serverName: String? { tls_server_name(handle).map { String(cString: $0) } }

    public var isResumed: Bool { tls_was_resumed(handle) }

    /// A client's certificates; after a resumed session only the client's own.
    public var clientChain: PresentedChain? {
        guard server != nil, let leaf = SSL_get0_peer_certificate(handle) else { return nil }
        let others = SSL_get_peer_cert_chain(handle)
        let count = max(0, tls_certificate_count(others))
        return PresentedChain(
            leaf: Certificate(borrowing: leaf),
            others: (0..<count).compactMap { tls_certificate(others, $0).map { Certificate(borrowing: $0) } })
    }

    /// The `tls-server-end-point` channel binding (RFC 5929 section 4.1), equal on both sides: a hash of the server's
    /// certificate. The hash is that of the certificate's signature, or SHA-256 if that is weaker. Nil if the signature
    /// uses no hash, for which the RFC defines no binding.
    public var serverEndPointBinding: [UInt8]? {
        guard let leaf = client == nil ? SSL_get_certificate(handle) : SSL_get0_peer_certificate(handle) else {
            return nil
        }
        var hash: Int32 = 0
        guard X509_get_signature_info(leaf, &hash, nil, nil, nil) == 1, hash != NID_undef else { return nil }
        let isWeak = hash == NID_md5 || hash == NID_sha1
        guard let algorithm = isWeak ? EVP_sha256() : EVP_get_digestbyname(OBJ_nid2sn(hash)) else { return nil }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(leaf, algorithm, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(Int(count)))
    }

    /// The OCSP response that the server stapled to its certificate.
    var staple: [UInt8]? {
        var start: UnsafePointer<UInt8>?
        let count = tls_staple(handle, &start)
        guard let start, count > 0 else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }
}
