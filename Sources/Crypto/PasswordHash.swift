import CCrypt
import COpenSSL

/// Password hashes as libcrypt makes them (yescrypt, bcrypt, SHA-crypt), and Apache's MD5. Both calls take tens of
/// milliseconds on purpose: never on a loop.
public enum PasswordHash {
    public enum Method: String, Sendable, CaseIterable {
        case yescrypt = "$y$"
        case bcrypt = "$2b$"
        case sha512 = "$6$"
        case sha256 = "$5$"
    }

    /// Whether `hash` names a method that is worth its name and that libcrypt can compute here, or is Apache's
    /// `$apr1$`, which `htpasswd` made for decades. DES, MD5 (`$1$`) and unsalted SHA-1 are not.
    public static func isSupported(_ hash: String) -> Bool {
        if ApacheHash.isSupported(hash) { return true }
        let prefixes = ["$y$", "$gy$", "$7$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$"]
        return prefixes.contains { hash.hasPrefix($0) } && !hash.utf8.contains(0)
            && [CRYPT_SALT_OK, CRYPT_SALT_METHOD_LEGACY].contains(crypt_checksalt(hash))
    }

    /// Whether a check against a supported hash takes about a second at most and 128 MiB: up to a million rounds of
    /// SHA-crypt, and a cost of bcrypt up to 14.
    public static func isAffordable(_ hash: String) -> Bool {
        ApacheHash.isSupported(hash) || PasswordHashCost.isBounded(hash)
    }

    /// Whether `password` is the one `hash` was made of. Blocks; safe from any thread. A password with a zero byte
    /// matches nothing, since C would cut it short; so does every one for a hash that is not affordable.
    public static func verify(_ password: Secret, against hash: String) -> Bool {
        if ApacheHash.isSupported(hash) {
            guard let made = password.withBytes({ ApacheHash.make($0, withSaltOf: hash) }) else { return false }
            return ConstantTime.equal(made.span, hash.utf8Span.span)
        }
        guard isSupported(hash), isAffordable(hash), let computed = crypted(password, setting: hash) else {
            return false
        }
        return ConstantTime.equal(computed.utf8Span.span, hash.utf8Span.span)
    }

    /// A hash with a fresh salt at the method's default cost. Blocks.
    public static func make(_ password: Secret, method: Method = .yescrypt) throws(CryptoError) -> String {
        guard let setting = crypt_gensalt_ra(method.rawValue, 0, nil, 0) else { throw .unusablePasswordHash }
        defer { free(setting) }
        guard let hash = crypted(password, setting: String(cString: setting)) else { throw .unusablePasswordHash }
        return hash
    }

    private static func crypted(_ password: Secret, setting: String) -> String? {
        var phrase = password.withBytes { bytes in
            (0..<bytes.count).map { CChar(bitPattern: bytes[$0]) }
        }
        defer { phrase.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
        guard !phrase.contains(0) else { return nil }
        phrase.append(0)
        let size = MemoryLayout<crypt_data>.size
        let work = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        defer {
            OPENSSL_cleanse(work, size)
            work.deallocate()
        }
        work.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        guard let hash = crypt_rn(phrase, setting, work, Int32(size)) else { return nil }
        return String(cString: hash)
    }
}
