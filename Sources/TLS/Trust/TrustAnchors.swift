import COpenSSL

/// Whom a chain may end in. Made once and shared: evaluations on every thread read the same store.
///
/// A certificate in it is believed as it is, whether it is a root, an intermediate or a server's own (RFC 5280 section
/// 6.1.1 (d) asks for a name and a key, not for a root).
public final class TrustAnchors: Sendable {
    public let certificates: [Certificate]
    private let object: LibraryObject

    /// These and no others.
    public convenience init(only certificates: [Certificate]) throws(TrustAnchorsError) {
        try self.init(certificates)
    }

    /// These as well; the certificates are shared with `self`.
    public func adding(_ more: [Certificate]) throws(TrustAnchorsError) -> TrustAnchors {
        try TrustAnchors(certificates + more)
    }

    private init(_ certificates: [Certificate]) throws(TrustAnchorsError) {
        guard let store = X509_STORE_new() else { throw .outOfMemory }
        object = LibraryObject(takingOwnership: store, free: { X509_STORE_free($0) })
        self.certificates = certificates
        guard let parameters = X509_VERIFY_PARAM_new() else { throw .outOfMemory }
        defer { X509_VERIFY_PARAM_free(parameters) }
        X509_VERIFY_PARAM_set_flags(parameters, Self.flags)
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER)
        X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        X509_VERIFY_PARAM_set_depth(parameters, Self.depth)
        guard X509_STORE_set1_param(store, parameters) == 1 else { throw .outOfMemory }
        for certificate in certificates {
            guard X509_STORE_add_cert(store, certificate.handle) == 1 else { throw .outOfMemory }
        }
    }

    /// The `X509_STORE`, for this target only.
    var handle: OpaquePointer { object.pointer }

    func contains(_ certificate: Certificate) -> Bool {
        certificates.contains { $0 == certificate }
    }

    /// Keys and signatures of at least 112 bits: RSA from 2048, elliptic curves from 224, SHA-224 and later.
    static let securityLevel: Int32 = 2
    /// Authorities between a server's certificate and its anchor.
    static let depth: Int32 = 10

    private static let flags = UInt(X509_V_FLAG_X509_STRICT | X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN)
}
