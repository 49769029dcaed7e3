import COpenSSL

/// One X.509 certificate (RFC 5280): what it says, believed or not. What it says of itself is read when asked for.
public final class Certificate: Sendable {
    private let object: LibraryObject

    /// One certificate in DER with nothing after it, at most 64 KiB.
    public init(der: Span<UInt8>) throws(CertificateError) {
        guard der.count <= Self.limit else { throw .tooLarge }
        let certificate = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var next = bytes.baseAddress
            guard let certificate = d2i_X509(nil, &next, bytes.count) else { return nil }
            if let start = bytes.baseAddress, let next, next - start == bytes.count { return certificate }
            X509_free(certificate)
            return nil
        }
        ERR_clear_error()
        guard let certificate else { throw .malformed }
        object = LibraryObject(takingOwnership: certificate, free: { X509_free($0) })
    }

    public convenience init(der: [UInt8]) throws(CertificateError) {
        try self.init(der: der.span)
    }

    /// Takes an `X509` over.
    init(takingOwnership certificate: OpaquePointer) {
        object = LibraryObject(takingOwnership: certificate, free: { X509_free($0) })
    }

    /// Holds on to an `X509` that belongs to another object.
    init(borrowing certificate: OpaquePointer) {
        X509_up_ref(certificate)
        object = LibraryObject(takingOwnership: certificate, free: { X509_free($0) })
    }

    /// The `X509`, for this target only: valid as long as this object.
    var handle: OpaquePointer { object.pointer }

    public var subject: DistinguishedName? { DistinguishedName(copying: X509_get_subject_name(handle)) }
    public var issuer: DistinguishedName? { DistinguishedName(copying: X509_get_issuer_name(handle)) }

    /// Whether it could have signed itself.
    var isSelfIssued: Bool { X509_check_issued(handle, handle) == X509_V_OK }

    /// The first second of the validity, since 1970; `Int.max` when the field cannot be read.
    public var notBefore: Int { CertificateTime.seconds(X509_get0_notBefore(handle)) ?? .max }
    /// The last second of the validity, since 1970; `Int.min` when the field cannot be read.
    public var notAfter: Int { CertificateTime.seconds(X509_get0_notAfter(handle)) ?? .min }

    public var serialNumber: [UInt8] {
        guard let number = X509_get0_serialNumber(handle) else { return [] }
        let count = Int(ASN1_STRING_length(number))
        return [UInt8](UnsafeBufferPointer(start: ASN1_STRING_get0_data(number), count: count))
    }

    /// Empty without the extension, and when it cannot be read.
    public var subjectAlternativeNames: [SubjectAlternativeName] {
        guard let names = X509_get_ext_d2i(handle, NID_subject_alt_name, nil, nil) else {
            ERR_clear_error()
            return []
        }
        let stack = OpaquePointer(names)
        defer { GENERAL_NAMES_free(stack) }
        return (0..<OPENSSL_sk_num(stack)).compactMap { index in
            OPENSSL_sk_value(stack, index).map { SubjectAlternativeName($0.assumingMemoryBound(to: GENERAL_NAME.self)) }
        }
    }

    public var publicKeyPin: PublicKeyPin {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(handle), &encoded)
        defer { CRYPTO_free(encoded, nil, 0) }
        guard let encoded, count > 0 else { return PublicKeyPin(subjectPublicKeyInfo: [UInt8]().span) }
        return PublicKeyPin(subjectPublicKeyInfo: UnsafeBufferPointer(start: encoded, count: Int(count)).span)
    }

    public var der: [UInt8] {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(handle, &encoded)
        defer { CRYPTO_free(encoded, nil, 0) }
        guard let encoded, count > 0 else { return [] }
        return [UInt8](UnsafeBufferPointer(start: encoded, count: Int(count)))
    }

    private static let limit = 64 << 10
}

extension Certificate: Equatable {
    /// Whether the two are the same bytes.
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.handle == right.handle || X509_cmp(left.handle, right.handle) == 0
    }
}

extension Certificate: CustomStringConvertible {
    /// Whom it names, in few words: the subject, or the first alternative name of one without a subject.
    public var description: String {
        let subject = DistinguishedName.text(of: X509_get_subject_name(handle))
        if !subject.isEmpty { return VisibleText.shortened(subject) }
        return VisibleText.shortened(subjectAlternativeNames.first.map { "\($0)" } ?? "a certificate without a name")
    }
}
