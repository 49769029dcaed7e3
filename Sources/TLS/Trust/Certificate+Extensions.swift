import COpenSSL

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
        return ObjectStack.objects(in: features).contains { feature in
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
}
