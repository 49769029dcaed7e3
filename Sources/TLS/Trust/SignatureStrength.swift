import COpenSSL

/// The effort in bits to find another certificate with an equal signature.
enum SignatureStrength: Equatable {
    /// The algorithm is not known.
    case unknown
    case bits(Int)

    init(_ certificate: Certificate) {
        var bits: Int32 = 0
        let known = X509_get_signature_info(certificate.handle, nil, nil, &bits, nil) == 1
        self = known && bits > 0 ? .bits(Int(bits)) : .unknown
    }

    /// The minimum for security level 2.
    static let enough = 112

    /// The name of the algorithm, or its number if it has no name.
    static func algorithm(of certificate: Certificate) -> String {
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_get0_signature(nil, &algorithm, certificate.handle)
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, algorithm)
        return ObjectIdentifier.name(object)
    }
}

/// The text of an OBJECT IDENTIFIER.
enum ObjectIdentifier {
    /// OpenSSL's long name, or the number with dots.
    static func name(_ object: OpaquePointer?) -> String { text(object, numeric: 0) }

    static func number(_ object: OpaquePointer?) -> String { text(object, numeric: 1) }

    private static func text(_ object: OpaquePointer?, numeric: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        let count = OBJ_obj2txt(&text, Int32(text.count), object, numeric)
        ERR_clear_error()
        guard count > 0 else { return "unknown" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
}
