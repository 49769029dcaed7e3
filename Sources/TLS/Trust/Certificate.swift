import COpenSSL
import Crypto
import Model

/// One X.509 certificate (RFC 5280): its statements, believed or not. They are read when asked for.
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

    public var publicKeyPin: KeyPin {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(handle), &encoded)
        defer { CRYPTO_free(encoded, nil, 0) }
        guard let encoded, count > 0 else { return KeyPin(subjectPublicKeyInfo: [UInt8]().span) }
        return KeyPin(subjectPublicKeyInfo: UnsafeBufferPointer(start: encoded, count: Int(count)).span)
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
    /// Its holder, in few words: the subject, or the first alternative name of one without a subject.
    public var description: String {
        let subject = DistinguishedName.text(of: X509_get_subject_name(handle))
        if !subject.isEmpty { return VisibleText.shortened(subject) }
        return VisibleText.shortened(subjectAlternativeNames.first.map { "\($0)" } ?? "a certificate without a name")
    }
}

extension Certificate {
    /// Every certificate in PEM text, in its order; text between the blocks and blocks of other kinds are passed over.
    /// Throws `.none` when there is no certificate, and `.malformedBlock` for one that is damaged.
    public static func all(inPEM text: Span<UInt8>, limit: Int = 10_000) throws(CertificateError) -> [Certificate] {
        let blocks = try PEMBlocks.contents(of: text, kinds: ["CERTIFICATE", "X509 CERTIFICATE"], limit: limit)
        guard !blocks.isEmpty else { throw .none }
        var certificates: [Certificate] = []
        for (number, block) in blocks.enumerated() {
            guard let certificate = try? Certificate(der: block) else { throw .malformedBlock(number + 1) }
            certificates.append(certificate)
        }
        return certificates
    }

    /// The certificates of a file: one in DER, as Windows writes `.cer`, or every one in PEM text.
    public static func all(in file: Span<UInt8>, limit: Int = 10_000) throws(CertificateError) -> [Certificate] {
        // The first byte of DER.
        guard file.count > 0, file[0] == 0x30 else { return try all(inPEM: file, limit: limit) }
        return [try Certificate(der: file)]
    }

    public static func all(inPEM text: String, limit: Int = 10_000) throws(CertificateError) -> [Certificate] {
        try all(inPEM: text.utf8Span.span, limit: limit)
    }

    public var pem: String { MemoryText.written { PEM_write_bio_X509($0, handle) == 1 } ?? "" }
}

// The values that people compare and look at.
extension Certificate {
    /// SHA-256 of the whole, as trust stores show it: `AB:CD:…`.
    public var fingerprint: String {
        MessageDigest.digest(.sha256, of: der.span).array.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined(separator: ":")
    }

    /// The day (UTC) on which its validity begins, for people: `2026-11-21`.
    public var firstDay: String { CertificateTime.date(notBefore) }
    /// The day (UTC) on which its validity ends.
    public var lastDay: String { CertificateTime.date(notAfter) }
}

extension Certificate {
    /// The copy of a foreign `X509`, as a certificate of the default library. Nil when it has no encoding.
    convenience init?(copying other: OpaquePointer) {
        var encoding: UnsafeMutablePointer<UInt8>?
        ERR_clear_error()
        let count = i2d_X509(other, &encoding)
        guard let encoding, count > 0 else { return nil }
        defer { CRYPTO_free(encoding, nil, 0) }
        try? self.init(der: UnsafeBufferPointer(start: encoding, count: Int(count)).span)
    }
}

/// Why bytes are no certificate. The fault of whoever wrote the file or sent the bytes.
public enum CertificateError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Not the DER of one X.509 certificate, or bytes follow it.
    case malformed
    /// The PEM block with this number, from 1, is damaged.
    case malformedBlock(Int)
    /// Text without a PEM block of the kind that was looked for.
    case none
    /// More bytes or more blocks than anybody needs.
    case tooLarge

    public var description: String {
        switch self {
        case .malformed: "not an X.509 certificate in DER"
        case .malformedBlock(let number): "PEM block \(number) is damaged"
        case .none: "no PEM block with a certificate"
        case .tooLarge: "more certificates than can be of use"
        }
    }
}

extension KeyPin {
    /// The pin of a SubjectPublicKeyInfo in DER.
    public init(subjectPublicKeyInfo: Span<UInt8>) {
        self.init(digest: MessageDigest.digest(.sha256, of: subjectPublicKeyInfo).array)
    }
}
