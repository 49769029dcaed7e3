import Bytes
import COpenSSL

// The facts of a certificate that issuing needs.
extension Certificate {
    /// Whether the certificate's basic constraints, and its key usage if it has one, allow it to sign other
    /// certificates.
    public var maySignCertificates: Bool { X509_check_ca(handle) == 1 }

    /// The subject key identifier (RFC 5280 section 4.2.1.2).
    var keyIdentifier: [UInt8]? { X509_get0_subject_key_id(handle).map { Self.bytes(of: $0) } }

    /// The first common name of the subject, if it is readable.
    public var commonName: String? {
        let name = X509_get_subject_name(handle)
        let index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        guard index >= 0, let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        ERR_clear_error()
        defer { ERR_clear_error() }
        let count = ASN1_STRING_to_UTF8(&text, value)
        guard let text, count >= 0 else { return nil }
        defer { CRYPTO_free(text, nil, 0) }
        let decoded = String(validating: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
        guard let decoded, !decoded.isEmpty, VisibleText.escaped(decoded) == decoded else { return nil }
        return decoded
    }

    /// Whether the issuer's name constraints, if it has any, permit all names of this certificate (RFC 5280 section
    /// 4.2.1.10).
    func liesWithinBounds(of issuer: Certificate) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        var criticality: Int32 = 0
        guard let found = X509_get_ext_d2i(issuer.handle, NID_name_constraints, &criticality, nil) else {
            return criticality == -1
        }
        // OpenSSL looks at the alternative names of a new certificate only after this call.
        X509_check_purpose(handle, -1, 0)
        let constraints = found.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        return NAME_CONSTRAINTS_check(handle, constraints) == X509_V_OK
            && NAME_CONSTRAINTS_check_CN(handle, constraints) == X509_V_OK
    }

    /// The DER of an extension's value.
    func content(of identifier: Int32) -> [UInt8]? {
        let index = X509_get_ext_by_NID(handle, identifier, -1)
        guard index >= 0 else { return nil }
        return X509_EXTENSION_get_data(X509_get_ext(handle, index)).map { Self.bytes(of: $0) }
    }

    private static func bytes(of text: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: max(0, Int(ASN1_STRING_length(text)))))
    }
}

extension ServerName {
    /// Whether a certificate may be issued for the name: an address, or a host name that can be resolved, with letters,
    /// digits, `-` and `_` in its labels (RFC 5890 section 2.3.1). A wildcard is refused, since it names no single
    /// host.
    public var isFitForCertificates: Bool {
        guard case .host(let name) = self else { return true }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
            }
    }
}
