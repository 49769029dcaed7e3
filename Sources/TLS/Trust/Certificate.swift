import COpenSSL
import Crypto
import Model

/// An X.509 certificate (RFC 5280), trusted or not. Its fields are decoded on use.
public final class Certificate: Sendable {
    private let object: LibraryObject

    /// Reads one certificate in DER with nothing after it, at most 64 KiB.
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

    /// Takes ownership of an `X509`.
    init(takingOwnership certificate: OpaquePointer) {
        object = LibraryObject(takingOwnership: certificate, free: { X509_free($0) })
    }

    /// Retains an `X509` that belongs to another object.
    init(borrowing certificate: OpaquePointer) {
        X509_up_ref(certificate)
        object = LibraryObject(takingOwnership: certificate, free: { X509_free($0) })
    }

    /// The `X509`, for this target only: valid as long as this object.
    var handle: OpaquePointer { object.pointer }

    public var subject: DistinguishedName? { DistinguishedName(copying: X509_get_subject_name(handle)) }
    public var issuer: DistinguishedName? { DistinguishedName(copying: X509_get_issuer_name(handle)) }

    /// Whether the certificate could be self-signed.
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

    /// The alternative names; empty without the extension, and if it cannot be read.
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
    /// Whether both have equal bytes.
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.handle == right.handle || X509_cmp(left.handle, right.handle) == 0
    }
}

extension Certificate: CustomStringConvertible {
    /// A short name of the holder: the subject, or the first alternative name if the subject is empty.
    public var description: String {
        let subject = DistinguishedName.text(of: X509_get_subject_name(handle))
        if !subject.isEmpty { return VisibleText.shortened(subject) }
        return VisibleText.shortened(subjectAlternativeNames.first.map { "\($0)" } ?? "a certificate without a name")
    }
}

extension Certificate {
    /// Reads all certificates in PEM text, in order. Skips text between the blocks and blocks of other kinds. Throws
    /// `.none` if there is no certificate, and `.malformedBlock` for a damaged one.
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

    /// Reads the certificates of a file: one in DER, as Windows writes `.cer`, or all in PEM text.
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

// The values that people compare.
extension Certificate {
    /// The SHA-256 of the certificate, as trust stores show it: `AB:CD:…`.
    public var fingerprint: String {
        MessageDigest.digest(.sha256, of: der.span).array.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined(separator: ":")
    }

    /// The first day (UTC) of the validity, for people: `2026-11-21`.
    public var firstDay: String { CertificateTime.date(notBefore) }
    /// The last day (UTC) of the validity.
    public var lastDay: String { CertificateTime.date(notAfter) }
}

extension Certificate {
    /// Copies an `X509` of another library context into the default one. Nil if it has no encoding.
    convenience init?(copying other: OpaquePointer) {
        var encoding: UnsafeMutablePointer<UInt8>?
        ERR_clear_error()
        let count = i2d_X509(other, &encoding)
        guard let encoding, count > 0 else { return nil }
        defer { CRYPTO_free(encoding, nil, 0) }
        try? self.init(der: UnsafeBufferPointer(start: encoding, count: Int(count)).span)
    }
}

/// The reason why bytes are not a certificate. The fault of the file or of the peer.
public enum CertificateError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes are not the DER of one X.509 certificate, or more bytes follow.
    case malformed
    /// The PEM block with this number, from 1, is damaged.
    case malformedBlock(Int)
    /// The text has no PEM block of the wanted kind.
    case none
    /// The input has too many bytes or blocks.
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
    /// Creates the pin of a SubjectPublicKeyInfo in DER.
    public init(subjectPublicKeyInfo: Span<UInt8>) {
        self.init(digest: MessageDigest.digest(.sha256, of: subjectPublicKeyInfo).array)
    }
}
