import COpenSSL
import Crypto

/// Reads PKCS#12 (RFC 7292): a certificate, its key and the certificates above it in one encrypted file.
enum PKCS12File {
    /// - Parameter passphrase: nil is tried as no passphrase and as an empty one.
    static func read(_ bytes: Span<UInt8>, passphrase: Secret?) throws(Identity.Failure) -> Identity.Contents {
        switch read(bytes, passphrase, in: nil) {
        case .read(let contents): return contents
        case .malformed: throw .noCertificate
        case .locked: throw passphrase == nil ? .passphraseMissing : .wrongPassphrase
        case .unknownAlgorithm: break
        }
        let (certificates, pem) = try LegacyLibrary.lend { library throws(Identity.Failure) in
            guard case .read(let contents) = read(bytes, passphrase, in: library) else {
                throw Identity.Failure.wrongPassphrase
            }
            return (contents.certificates, try contents.key?.pem())
        }
        let key = try pem.map { pem throws(Identity.Failure) in try PrivateKey(unencrypted: pem) }
        return Identity.Contents(certificates: certificates, key: key)
    }

    private enum Reading {
        case read(Identity.Contents)
        case malformed
        case locked
        case unknownAlgorithm
    }

    private static func read(_ bytes: Span<UInt8>, _ passphrase: Secret?, in library: OpaquePointer?) -> Reading {
        ERR_clear_error()
        var file = PKCS12_init_ex(NID_pkcs7_data, library, nil)
        defer { PKCS12_free(file) }
        guard file != nil, MemoryInput.lend(bytes, to: { d2i_PKCS12_bio($0, &file) }) != nil else { return .malformed }
        var (key, leaf, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        let hasMAC = PKCS12_mac_present(file) == 1
        let isRead = withCString(of: passphrase) { passphrase in
            // OpenSSL refuses a file without a MAC (`-nomac`), so one is added.
            if !hasMAC, PKCS12_set_mac(file, passphrase, -1, nil, 0, 0, nil) != 1 { return Int32(0) }
            return PKCS12_parse(file, passphrase, &key, &leaf, &others)
        }
        guard isRead == 1 else { return failure(hasMAC: hasMAC) }
        defer { release(leaf, others) }
        let certificates = [leaf] + PathVerification.Stack.objects(in: others)
        return .read(
            Identity.Contents(
                certificates: certificates.compactMap { $0 }.compactMap(Certificate.init(copying:)),
                key: key.map(PrivateKey.init(takingOwnership:))))
    }

    private static func release(_ leaf: OpaquePointer?, _ others: OpaquePointer?) {
        X509_free(leaf)
        while let other = OPENSSL_sk_pop(others) { X509_free(OpaquePointer(other)) }
        OPENSSL_sk_free(others)
    }

    private static func failure(hasMAC: Bool) -> Reading {
        let isLocked = ERR_GET_REASON(ERR_peek_last_error()) == PKCS12_R_MAC_VERIFY_FAILURE
        if isLocked {
            ERR_clear_error()
            return .locked
        }
        // Without a MAC, a wrong passphrase shows only as content that cannot be decrypted.
        return LegacyLibrary.isWanted() ? .unknownAlgorithm : hasMAC ? .malformed : .locked
    }

    /// Lends the passphrase as a C string, and zeroes the copy.
    private static func withCString<Result>(
        of passphrase: Secret?, _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        guard let passphrase else { return body(nil) }
        var text = passphrase.withBytes { bytes in (0..<bytes.count).map { CChar(truncatingIfNeeded: bytes[$0]) } + [0]
        }
        defer { text.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
        return body(text)
    }
}
