import COpenSSL

/// How hard it is to find another certificate for the same signature.
enum SignatureStrength: Equatable {
    /// An algorithm that is not known.
    case unknown
    case bits(Int)

    init(_ certificate: Certificate) {
        var bits: Int32 = 0
        let known = X509_get_signature_info(certificate.handle, nil, nil, &bits, nil) == 1
        self = known && bits > 0 ? .bits(Int(bits)) : .unknown
    }

    /// What security level 2 asks for.
    static let enough = 112

    /// The algorithm by its name, or by its number when it has none.
    static func algorithm(of certificate: Certificate) -> String {
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_get0_signature(nil, &algorithm, certificate.handle)
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, algorithm)
        return ObjectIdentifier.name(object)
    }
}
