import COpenSSL

/// The chain that a server sent, not judged yet. Only `TrustEvaluation` makes a `VerifiedChain` of it.
public struct PresentedChain: Sendable {
    /// The use of the server's key in the handshake. A key usage extension must allow it (RFC 5280 section 4.2.1.3).
    /// TLS 1.3 and ephemeral exchanges sign; the RSA exchange of TLS 1.2 and older encrypts.
    public enum KeyExchange: Sendable {
        case signed
        case encrypted
    }

    /// The server's own certificate.
    public let leaf: Certificate
    /// The certificates after the leaf, in the order sent; at most 31.
    public let others: [Certificate]
    /// The number of certificates beyond those, which were dropped. If it is above 0 the evaluation reports `invalid`.
    public let omitted: Int
    /// The stapled OCSP response in DER (RFC 6066 section 8); nil if none was sent.
    public private(set) var staple: [UInt8]?
    public let keyExchange: KeyExchange

    public init(
        leaf: Certificate, others: [Certificate] = [], staple: [UInt8]? = nil, keyExchange: KeyExchange = .signed
    ) {
        self.leaf = leaf
        self.others = Array(others.prefix(Self.limit))
        self.omitted = others.count - self.others.count
        self.staple = staple
        self.keyExchange = keyExchange
    }

    /// Takes the chain that a peer sent, from an `X509_STORE_CTX` of its handshake; nil if it is empty.
    init?(in evaluation: OpaquePointer, keyExchange: KeyExchange) {
        let sent = PathVerification.Stack.objects(in: X509_STORE_CTX_get0_untrusted(evaluation))
        let certificates = sent.prefix(Self.limit + 1).map { Certificate(borrowing: $0) }
        guard let leaf = certificates.first else { return nil }
        self.leaf = leaf
        others = Array(certificates.dropFirst())
        omitted = sent.count - certificates.count
        self.keyExchange = keyExchange
    }

    /// Whether the evaluation may take longer than a millisecond, so that it needs a thread that may block.
    public var isCostly: Bool {
        others.count >= 4 || leaf.keySize > 4096 || others.contains { $0.keySize > 4096 } || hasTwins
    }

    /// Whether two certificates have equal subjects, so that several paths may have to be built.
    private var hasTwins: Bool {
        others.indices.contains { first in
            let name = X509_get_subject_name(others[first].handle)
            return others[..<first].contains { X509_NAME_cmp(X509_get_subject_name($0.handle), name) == 0 }
        }
    }

    /// The certificates with an exponent that makes each signature costly to verify.
    var weakened: [Certificate] { ([leaf] + others).filter(\.hasLongExponent) }

    /// A copy of the chain with a response that arrived after it.
    func stapled(with response: [UInt8]?) -> PresentedChain {
        var chain = self
        chain.staple = response
        return chain
    }

    private static let limit = 31
}
