import Bytes
import COpenSSL
import Crypto
import Model

/// An X.509 certificate (RFC 5280), trusted or not. Its fields are decoded on use.
public final class Certificate: Sendable, Equatable, CustomStringConvertible {
    private let object: LibraryObject

    /// Reads one certificate in DER with nothing after it, at most 64 KiB.
    public convenience init(der: Span<UInt8>) throws(Failure) {
        guard der.count <= Self.limit else { throw .tooLarge }
        let certificate = LibraryObject.decoded(der, by: { d2i_X509(nil, $0, $1) }, free: { X509_free($0) })
        guard let certificate else { throw .malformed }
        self.init(takingOwnership: certificate)
    }

    public convenience init(der: [UInt8]) throws(Failure) {
        try self.init(der: der.span)
    }

    /// Takes ownership of an `X509`.
    init(takingOwnership certificate: OpaquePointer) {
        object = LibraryObject(takingOwnership: certificate, free: { X509_free($0) })
    }

    /// Retains an `X509` that belongs to another object.
    convenience init(borrowing certificate: OpaquePointer) {
        X509_up_ref(certificate)
        self.init(takingOwnership: certificate)
    }

    /// The `X509`, for this target only: valid as long as this object.
    var handle: OpaquePointer { object.pointer }

    public var subject: DistinguishedName? { DistinguishedName(copying: X509_get_subject_name(handle)) }
    public var issuer: DistinguishedName? { DistinguishedName(copying: X509_get_issuer_name(handle)) }

    /// Whether the certificate could be self-signed.
    var isSelfIssued: Bool { X509_check_issued(handle, handle) == X509_V_OK }

    /// The first second of the validity; `distantFuture` when the field cannot be read.
    public var notBefore: WallTime { Time.time(X509_get0_notBefore(handle)) ?? .distantFuture }
    /// The last second of the validity; `distantPast` when the field cannot be read.
    public var notAfter: WallTime { Time.time(X509_get0_notAfter(handle)) ?? .distantPast }

    /// The alternative names; empty without the extension, and if it cannot be read.
    public var subjectAlternativeNames: [SubjectAlternativeName] {
        guard let names = X509_get_ext_d2i(handle, NID_subject_alt_name, nil, nil) else {
            ERR_clear_error()
            return []
        }
        let stack = OpaquePointer(names)
        defer { GENERAL_NAMES_free(stack) }
        return PathVerification.Stack.objects(in: stack).map {
            SubjectAlternativeName(UnsafePointer<GENERAL_NAME>($0))
        }
    }

    public var publicKeyPin: KeyPin {
        let key = LibraryObject.encoding { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(handle), $0) } ?? []
        return KeyPin(subjectPublicKeyInfo: key.span)
    }

    public var der: [UInt8] { LibraryObject.encoding { i2d_X509(handle, $0) } ?? [] }

    private static let limit = 64 << 10

    /// Whether both have equal bytes.
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.handle == right.handle || X509_cmp(left.handle, right.handle) == 0
    }

    /// A short name of the holder: the subject, or the first alternative name if the subject is empty.
    public var description: String {
        let subject = DistinguishedName.text(of: X509_get_subject_name(handle))
        if !subject.isEmpty { return VisibleText.shortened(subject) }
        return VisibleText.shortened(subjectAlternativeNames.first.map { "\($0)" } ?? "a certificate without a name")
    }

    /// Reads all certificates in PEM text, in order. Skips text between the blocks and blocks of other kinds. Throws
    /// `.none` if there is no certificate, and `.malformedBlock` for a damaged one.
    public static func all(inPEM text: Span<UInt8>, limit: Int = 10_000) throws(Failure) -> [Certificate] {
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
    public static func all(in file: Span<UInt8>, limit: Int = 10_000) throws(Failure) -> [Certificate] {
        // The first byte of DER.
        guard file.count > 0, file[0] == 0x30 else { return try all(inPEM: file, limit: limit) }
        return [try Certificate(der: file)]
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
    public var firstDay: String { Time.date(notBefore) }
    /// The last day (UTC) of the validity.
    public var lastDay: String { Time.date(notAfter) }

    /// Copies an `X509` of another library context into the default one. Nil if it has no encoding.
    convenience init?(copying other: OpaquePointer) {
        ERR_clear_error()
        guard let encoding = LibraryObject.encoding(by: { i2d_X509(other, $0) }) else { return nil }
        try? self.init(der: encoding)
    }

    /// The reason why bytes are not a certificate. The fault of the file or of the peer.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
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
}

extension KeyPin {
    /// Creates the pin of a SubjectPublicKeyInfo in DER.
    public init(subjectPublicKeyInfo: Span<UInt8>) {
        self.init(digest: MessageDigest.digest(.sha256, of: subjectPublicKeyInfo).array)
    }
}

extension Certificate {
    /// Whether the TLS feature extension (RFC 7633) requires a stapled OCSP response: the feature `status_request`, or
    /// its second version. True if the extension cannot be read.
    var demandsStaple: Bool {
        guard X509_get_ext_by_NID(handle, NID_tlsfeature, -1) >= 0 else { return false }
        guard let decoded = X509_get_ext_d2i(handle, NID_tlsfeature, nil, nil) else {
            ERR_clear_error()
            return true
        }
        let features = OpaquePointer(decoded)
        defer { TLS_FEATURE_free(features) }
        return PathVerification.Stack.objects(in: features).contains { feature in
            [5, 17].contains(ASN1_INTEGER_get(UnsafePointer<ASN1_INTEGER>(feature)))
        }
    }

    /// The numbers of the critical extensions that OpenSSL does not know.
    var unknownCriticalExtensions: [String] {
        (0..<max(0, X509_get_ext_count(handle))).compactMap { index in
            guard let found = X509_get_ext(handle, index), X509_EXTENSION_get_critical(found) != 0,
                X509_supported_extension(found) == 0
            else { return nil }
            return ObjectIdentifier.number(X509_EXTENSION_get_object(found))
        }
    }

    /// Whether one of the extensions that OpenSSL reads is damaged or a duplicate. OpenSSL then accepts the certificate
    /// neither as issuer nor as subject.
    var hasUnreadableExtension: Bool { X509_get_extension_flags(handle) & UInt32(EXFLAG_INVALID) != 0 }

    /// Whether the names, identifiers and algorithms suggest a self-signed certificate.
    var seemsSelfSigned: Bool { X509_get_extension_flags(handle) & UInt32(EXFLAG_SS) != 0 }

    /// Whether the certificate's subject is the issuer name of the other one.
    func isNamed(asIssuerOf other: Certificate) -> Bool {
        X509_NAME_cmp(X509_get_subject_name(handle), X509_get_issuer_name(other.handle)) == 0
    }

    /// Whether the certificate's own key verifies its signature.
    var isSelfSigned: Bool { X509_self_signed(handle, 1) == 1 }

    /// Whether the key usage extension, if there is one, allows the use of the key in the handshake.
    func allows(_ exchange: PresentedChain.KeyExchange) -> Bool {
        guard !hasUnreadableExtension else { return true }
        let usage = X509_get_key_usage(handle)
        return switch exchange {
        case .signed: usage & UInt32(X509v3_KU_DIGITAL_SIGNATURE) != 0
        case .encrypted: usage & UInt32(X509v3_KU_KEY_ENCIPHERMENT) != 0
        }
    }

    /// `RSA of 2048 bits`; `an elliptic curve (P-256)`.
    public var keyDescription: String {
        guard let key = X509_get0_pubkey(handle) else { return "a key of an unknown kind" }
        let kind = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown"
        var group = [CChar](repeating: 0, count: 64)
        var length = 0
        if kind == "EC", EVP_PKEY_get_group_name(key, &group, group.count, &length) == 1 {
            let name = String(decoding: group.prefix(length).map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
            return "EC of \(EVP_PKEY_get_bits(key)) bits (\(name))"
        }
        ERR_clear_error()
        let exponent = hasLongExponent ? ", with an exponent of \(attache_exponent_bits(key)) bits" : ""
        return "\(kind) of \(EVP_PKEY_get_bits(key)) bits\(exponent)"
    }

    /// Whether the exponent of the RSA key is above 2³². That makes verifying a signature up to 200 times as costly.
    /// The usual exponent is 65537.
    var hasLongExponent: Bool {
        X509_get0_pubkey(handle).map { attache_exponent_bits($0) > 32 } ?? false
    }

    /// The size of the key in bits; 0 if it cannot be read.
    var keySize: Int { X509_get0_pubkey(handle).map { Int(EVP_PKEY_get_bits($0)) } ?? 0 }

    public var signatureAlgorithm: String { SignatureStrength.algorithm(of: self) }

    /// The workload that the certificate is for, if it is an X.509-SVID (X509-SVID sections 2 and 4): it has one URI, which
    /// is a SPIFFE ID with a path, and is not that of a CA. The subject does not matter.
    public var workload: SPIFFEID? {
        let uris = subjectAlternativeNames.compactMap { name in
            if case .uri(let text) = name { text } else { nil }
        }
        guard uris.count == 1, X509_check_ca(handle) == 0 else { return nil }
        return SPIFFEID(uris[0])
    }
}
