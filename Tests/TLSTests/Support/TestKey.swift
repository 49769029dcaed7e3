import COpenSSL

/// A private key for a test's certificate. `@unchecked Sendable`: never changed.
final class TestKey: @unchecked Sendable {
    let handle: OpaquePointer

    enum Kind {
        case rsa(Int)
        /// RSA of 2048 bits.
        case exponent(String)
        case curve(String)
        case explicitCurve(String)
        case dsa(Int)
        case named(String)
    }

    init(_ kind: Kind) {
        switch kind {
        case .rsa(let bits):
            handle = Self.make("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(bits)) }
        case .exponent(let digits):
            handle = Self.make("RSA") { context in
                var number: OpaquePointer?
                defer { BN_free(number) }
                return EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) > 0 && BN_hex2bn(&number, digits) > 0
                    ? EVP_PKEY_CTX_set1_rsa_keygen_pubexp(context, number) : 0
            }
        case .curve(let name):
            handle = Self.make("EC") { EVP_PKEY_CTX_set_group_name($0, name) }
        case .explicitCurve(let name):
            handle = Self.make("EC") {
                EVP_PKEY_CTX_set_group_name($0, name) + EVP_PKEY_CTX_set_ec_param_enc($0, OPENSSL_EC_EXPLICIT_CURVE)
            }
        case .named(let name):
            handle = Self.make(name) { _ in 1 }
        case .dsa(let bits):
            let context = EVP_PKEY_CTX_new_from_name(nil, "DSA", nil)
            EVP_PKEY_paramgen_init(context)
            EVP_PKEY_CTX_set_dsa_paramgen_bits(context, Int32(bits))
            var parameters: OpaquePointer?
            EVP_PKEY_paramgen(context, &parameters)
            EVP_PKEY_CTX_free(context)
            let keys = EVP_PKEY_CTX_new_from_pkey(nil, parameters, nil)
            var key: OpaquePointer?
            EVP_PKEY_keygen_init(keys)
            EVP_PKEY_keygen(keys, &key)
            EVP_PKEY_CTX_free(keys)
            EVP_PKEY_free(parameters)
            handle = key!
        }
    }

    private static func make(_ name: String, _ configure: (OpaquePointer?) -> Int32) -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_from_name(nil, name, nil)
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        precondition(configure(context) > 0, "cannot configure a key of kind \(name)")
        var key: OpaquePointer?
        EVP_PKEY_keygen(context, &key)
        return key!
    }

    deinit { EVP_PKEY_free(handle) }

    /// A fresh one each time: authorities must not be mistaken for each other.
    static var fresh: TestKey { TestKey(.curve("P-256")) }
    static let rsa2048 = TestKey(.rsa(2048))
    static let rsa1024 = TestKey(.rsa(1024))
    static let longExponent = TestKey(.exponent("100000000000000000000000000000000000F"))
    static let dsa1024 = TestKey(.dsa(1024))
    static let p192 = TestKey(.curve("prime192v1"))
    static let p224 = TestKey(.curve("P-224"))
    static let explicit = TestKey(.explicitCurve("P-256"))
    static let ed25519 = TestKey(.named("ED25519"))
}
