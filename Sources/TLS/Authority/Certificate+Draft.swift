import Bytes
import COpenSSL
import Crypto

extension Certificate {
    /// A certificate before it is signed.
    struct Draft {
        /// The subject, which only people read; programs read the alternative names.
        enum Subject: Equatable {
            case none
            case commonName(String)
            case organization(String)
        }

        var subject: Subject
        /// The certificate of the issuer; nil for a self-signed certificate.
        var issuer: Certificate?
        var publicKey: PrivateKey
        /// The validity. The rest of a second is left out.
        var notBefore: WallTime
        var notAfter: WallTime
        var extensions: [Extension]

        /// The limit of `ub-common-name` and `ub-organization-name` (RFC 5280 appendix A) in characters. It is compared
        /// with the count of bytes, which is never smaller.
        static let nameLimit = 64

        /// Signs the draft with the issuer's key. Nil if OpenSSL has no memory or cannot sign with this key.
        func signed(by key: PrivateKey) -> Certificate? {
            ERR_clear_error()
            defer { ERR_clear_error() }
            guard let draft = X509_new() else { return nil }
            defer { X509_free(draft) }
            guard X509_set_version(draft, Int(X509_VERSION_3)) == 1, setSerial(of: draft), setNames(of: draft),
                setTimes(of: draft), X509_set_pubkey(draft, publicKey.handle) == 1,
                extensions.allSatisfy({ add($0, to: draft) }), X509_sign(draft, key.handle, digest(for: key)) > 0
            else { return nil }
            return Certificate(copying: draft)
        }

        /// Sets 16 random bytes as serial number. Two bits are fixed so that the number is positive and always of that
        /// length.
        private func setSerial(of draft: OpaquePointer) -> Bool {
            guard var bytes = try? RandomBytes.make(16) else { return false }
            bytes[0] = bytes[0] & 0x7F | 0x40
            guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
            defer { BN_free(number) }
            return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(draft)) != nil
        }

        private func setNames(of draft: OpaquePointer) -> Bool {
            let name = X509_get_subject_name(draft)
            let isNamed =
                switch subject {
                case .none: true
                case .commonName(let text): add(text, as: NID_commonName, to: name)
                case .organization(let text): add(text, as: NID_organizationName, to: name)
                }
            return isNamed && X509_set_issuer_name(draft, issuer.map { X509_get_subject_name($0.handle) } ?? name) == 1
        }

        private func add(_ text: String, as type: Int32, to name: OpaquePointer?) -> Bool {
            let text = Array(text.utf8)
            return X509_NAME_add_entry_by_NID(name, type, MBSTRING_UTF8, text, Int32(text.count), -1, 0) == 1
        }

        private func setTimes(of draft: OpaquePointer) -> Bool {
            func set(_ time: WallTime, _ body: (UnsafePointer<ASN1_TIME>) -> Int32) -> Bool {
                guard let time = ASN1_TIME_set(nil, time.seconds) else { return false }
                defer { ASN1_TIME_free(time) }
                return body(time) == 1
            }
            return set(notBefore) { X509_set1_notBefore(draft, $0) } && set(notAfter) { X509_set1_notAfter(draft, $0) }
        }

        private func add(_ new: Extension, to draft: OpaquePointer) -> Bool {
            guard let content = ASN1_OCTET_STRING_new() else { return false }
            defer { ASN1_OCTET_STRING_free(content) }
            guard ASN1_OCTET_STRING_set(content, new.content, Int32(new.content.count)) == 1,
                let made = X509_EXTENSION_create_by_NID(nil, new.identifier, new.isCritical ? 1 : 0, content)
            else { return false }
            defer { X509_EXTENSION_free(made) }
            return X509_add_ext(draft, made, -1) == 1
        }

        /// The digest for a signature: SHA-256; nil for keys that bring their own (RFC 8032).
        private func digest(for key: PrivateKey) -> OpaquePointer? {
            EVP_PKEY_is_a(key.handle, "ED25519") == 1 || EVP_PKEY_is_a(key.handle, "ED448") == 1 ? nil : EVP_sha256()
        }
    }
}
