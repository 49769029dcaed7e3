import COpenSSL

/// A PKCS#12 file with certificates that Java trusts.
public enum JavaTrustStore {
    /// Encodes the certificates, encrypted with AES, which Java reads since 8u301. Java needs a special attribute on
    /// each certificate that says for what it is trusted: here, for everything. Nil if OpenSSL fails.
    /// - Parameter others: the certificates after the first. The first is named `attache`.
    public static func encode(
        _ certificate: Certificate, others: [Certificate] = [], password: String
    ) -> [UInt8]? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        var bags: OpaquePointer?
        defer {
            while let bag = OPENSSL_sk_pop(bags) { PKCS12_SAFEBAG_free(OpaquePointer(bag)) }
            OPENSSL_sk_free(bags)
        }
        for (number, trusted) in ([certificate] + others).enumerated() {
            let alias = number == 0 ? "attache" : "system \(number)"
            guard let bag = PKCS12_add_cert(&bags, trusted.handle),
                PKCS12_add_friendlyname_utf8(bag, alias, -1) == 1, addTrustedUsage(to: bag)
            else { return nil }
        }
        var safes: OpaquePointer?
        guard PKCS12_add_safe(&safes, bags, NID_aes_256_cbc, PKCS12_DEFAULT_ITER, password) == 1 else { return nil }
        defer {
            while let safe = OPENSSL_sk_pop(safes) { PKCS7_free(safe.assumingMemoryBound(to: PKCS7.self)) }
            OPENSSL_sk_free(safes)
        }
        guard let file = PKCS12_add_safes(safes, 0) else { return nil }
        defer { PKCS12_free(file) }
        guard PKCS12_set_mac(file, password, -1, nil, 0, PKCS12_DEFAULT_ITER, EVP_sha256()) == 1 else { return nil }
        return LibraryObject.encoding { i2d_PKCS12(file, $0) }
    }

    private static func addTrustedUsage(to bag: OpaquePointer) -> Bool {
        guard let anyUsage = OBJ_nid2obj(NID_anyExtendedKeyUsage) else { return false }
        // With a length of -1 the value is an object of that type instead of its bytes.
        let value = UnsafeRawPointer(anyUsage).assumingMemoryBound(to: UInt8.self)
        return PKCS12_add1_attr_by_txt(bag, "2.16.840.1.113894.746875.1.1", V_ASN1_OBJECT, value, -1) == 1
    }
}
