import COpenSSL
import Crypto

/// Our identity towards a peer: a certificate, its intermediates, and the private key.
public final class Identity: Sendable {
    public let leaf: Certificate
    /// The certificates sent after the leaf: its issuer first, without the root.
    public let intermediates: [Certificate]
    public let key: PrivateKey
    /// Half of a SHA-256 over all certificates, different for each chain. The key is not included, since a certificate
    /// belongs to one key only.
    public let fingerprint: UInt128

    /// - Parameter certificates: in any order; the leaf is the first that belongs to the key.
    public convenience init(_ certificates: [Certificate], key: PrivateKey) throws(Failure) {
        guard !certificates.isEmpty else { throw .noCertificate }
        guard let leaf = certificates.first(where: { $0.belongs(to: key) }) else { throw .keyMismatch }
        self.init(leaf: leaf, intermediates: Self.issuers(of: leaf, among: certificates), key: key)
    }

    /// Takes parts that are known to belong together.
    init(leaf: Certificate, intermediates: [Certificate], key: PrivateKey) {
        self.leaf = leaf
        self.intermediates = intermediates
        self.key = key
        var digest = MessageDigest(.sha256)
        for certificate in [leaf] + intermediates { digest.update(certificate.der) }
        fingerprint = digest.finish().prefix128
    }

    /// Reads the certificate and key that a rule file or a command line names.
    ///
    /// - Parameters:
    ///   - certificate: PEM with the certificate and those above it, or PKCS#12, distinguished by the first byte.
    ///   - key: the source of the key; nil: the same as the certificate's.
    ///   - passphrase: the passphrase of the key or of the PKCS#12 file, or the PIN of the token.
    public convenience init(
        certificate: Material, key: Material? = nil, passphrase: Secret? = nil
    ) throws(Failure) {
        let first = try Contents(certificate, passphrase: passphrase, wantsKey: key == nil)
        guard !first.certificates.isEmpty else { throw .noCertificate }
        let second = try key.map { key throws(Failure) in
            try Contents(key, passphrase: passphrase, wantsKey: true)
        }
        guard let key = second?.key ?? first.key else { throw .noKey }
        try self.init(first.certificates + (second?.certificates ?? []), key: key)
    }

    /// The certificates in the order that TLS requires, each of which certifies the one before it (RFC 8446 section
    /// 4.4.2): the leaf's issuer, then its issuer and so on, without the root, which the peer either has or does not
    /// trust. Certificates off that path follow it: they may lead to another root.
    private static func issuers(of leaf: Certificate, among certificates: [Certificate]) -> [Certificate] {
        var rest = certificates.filter { $0.der != leaf.der && !$0.isItsOwnIssuer }
        var path: [Certificate] = []
        var last = leaf
        while let next = rest.firstIndex(where: { $0.certifies(last) }) {
            last = rest.remove(at: next)
            path.append(last)
        }
        return path + rest
    }
}

extension Certificate {
    fileprivate func belongs(to key: PrivateKey) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return X509_check_private_key(handle, key.handle) == 1
    }

    fileprivate func certifies(_ other: Certificate) -> Bool { X509_check_issued(handle, other.handle) == X509_V_OK }

    var isItsOwnIssuer: Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return X509_self_signed(handle, 0) == 1
    }
}

extension Identity {
    /// The reason why a certificate and a key cannot be used. Each is a sentence that reads well after the names of the
    /// credential and the file. None shows any part of the key.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The certificate's file is neither PEM nor PKCS#12, or is damaged.
        case noCertificate
        /// The certificate with this number, from 1, is damaged.
        case damagedCertificate(Int)
        case noKey
        /// The file contains a key that OpenSSL cannot read.
        case unreadableKey
        /// The file contains a key of another kind than the one in these words.
        case wrongKind(wanted: String)
        case keyMismatch
        case passphraseMissing
        case wrongPassphrase
        /// The file uses an algorithm of OpenSSL's legacy provider, which is not installed.
        case legacyProviderMissing
        case tooLarge(limit: Int)
        case noTokenProvider
        case unreadableToken
        /// The token was opened, and has no object with the URI's name.
        case noSuchObject
        case noSuchToken
        /// The token wants a PIN, and none is given.
        case pinMissing
        case wrongPIN
        case lockedPIN
        /// Out of memory. Neither the peer's fault nor the file's.
        case outOfMemory

        public var description: String {
            switch self {
            case .noCertificate: "there is no certificate in it that can be read"
            case .damagedCertificate(let number): "certificate \(number) in it is damaged"
            case .noKey: "there is no private key, neither with the certificate nor in a file of its own"
            case .unreadableKey:
                "the private key cannot be read: it is damaged, or of a kind that OpenSSL does not know"
            case .wrongKind(let wanted): "the private key is not \(wanted)"
            case .keyMismatch: "the private key does not belong to the certificate"
            case .passphraseMissing: "the private key is encrypted, and no passphrase is given"
            case .wrongPassphrase: "the passphrase does not open the private key"
            case .legacyProviderMissing:
                "it is encrypted with an old algorithm, and OpenSSL's legacy provider is not installed: "
                    + "install it, or encrypt the key again"
            case .tooLarge(let limit): "it is larger than \(limit) bytes"
            case .noTokenProvider:
                "OpenSSL has no PKCS#11: install its provider (pkcs11-provider) or, for Debian 12, its engine "
                    + "(libengine-pkcs11-openssl)"
            case .noSuchObject:
                "the token has no such object: list what it has with `pkcs11-tool --login --list-objects`, and write that label "
                    + "or id"
            case .noSuchToken: "there is no such token: list those that are there with `p11tool --list-tokens`"
            case .pinMissing: "the token wants a PIN: add 'passphrase'"
            case .wrongPIN:
                "the token refuses the PIN: correct 'passphrase' first, since a token locks after a few wrong ones"
            case .lockedPIN: "the token has locked its PIN: unlock it with the token's own tool"
            case .unreadableToken: "the token has no such object, or does not give it away with this PIN"
            case .outOfMemory: "OpenSSL has no memory left"
            }
        }
    }
}
