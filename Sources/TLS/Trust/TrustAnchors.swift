import COpenSSL

/// Whom a chain may end in. Made once and shared: evaluations on every thread read the same store.
///
/// A certificate in it is believed as it is, whether it is a root, an intermediate or a server's own (RFC 5280 section
/// 6.1.1 (d) asks for a name and a key, not for a root).
public final class TrustAnchors: Sendable {
    private let object: LibraryObject
    /// Those that were given; the system's are not among them.
    public let certificates: [Certificate]
    /// Those of the system, not decoded before they are needed.
    private let index: AnchorIndex

    /// These and no others.
    public convenience init(only certificates: [Certificate]) throws(TrustAnchorsError) {
        try self.init(certificates, AnchorIndex([]))
    }

    /// These as well; what was there is shared.
    public func adding(_ more: [Certificate]) throws(TrustAnchorsError) -> TrustAnchors {
        try TrustAnchors(certificates + more, index)
    }

    init(_ certificates: [Certificate], _ index: AnchorIndex) throws(TrustAnchorsError) {
        guard let store = X509_STORE_new(), let parameters = X509_VERIFY_PARAM_new() else { throw .outOfMemory }
        object = LibraryObject(takingOwnership: store, free: { X509_STORE_free($0) })
        self.certificates = certificates
        self.index = index
        defer { X509_VERIFY_PARAM_free(parameters) }
        X509_VERIFY_PARAM_set_flags(parameters, Self.flags)
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER)
        X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        X509_VERIFY_PARAM_set_depth(parameters, Self.depth)
        guard X509_STORE_set1_param(store, parameters) == 1 else { throw .outOfMemory }
        if index.count > 0, !AnchorLookup.add(index, to: store) { throw .outOfMemory }
        for certificate in certificates {
            // A store that holds one of this subject asks its index for no other.
            let others = index.certificates(named: X509_get_subject_name(certificate.handle))
            for anchor in [certificate] + others {
                guard X509_STORE_add_cert(store, anchor.handle) == 1 else { throw .outOfMemory }
            }
        }
    }

    public var count: Int { certificates.count + index.count }

    public func contains(_ certificate: Certificate) -> Bool {
        certificates.contains { $0 == certificate } || index.contains(certificate)
    }

    /// The `X509_STORE`, for this target only.
    var handle: OpaquePointer { object.pointer }

    /// Keys and signatures of at least 112 bits: RSA from 2048, elliptic curves from 224, SHA-224 and later.
    static let securityLevel: Int32 = 2
    /// Authorities between a server's certificate and its anchor.
    static let depth: Int32 = 10

    private static let flags = UInt(X509_V_FLAG_X509_STRICT | X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN)
}
