import Bytes

/// Apache's password hash `$apr1$`: a thousand rounds of MD5 over password and salt, as `htpasswd -m` and
/// `openssl passwd -apr1` make it. libcrypt does not know it (it is `$1$` of FreeBSD under another name).
enum ApacheHash {
    static let magic: StaticString = "$apr1$"
    private static let saltLimit = 8
    /// libcrypt's own limit: a longer one would only make us hash for long.
    private static let passwordLimit = 511
    private static let rounds = 1000
    /// Which bytes of the digest make four digits each, the first in the highest bits; then two digits for byte 11.
    private static let groups: [(Int, Int, Int)] = [(0, 6, 12), (1, 7, 13), (2, 8, 14), (3, 9, 15), (4, 10, 5)]
    private static let digits = Array("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// Whether the text is a whole hash of this kind: magic, salt, `$` and 22 digits.
    static func isSupported(_ hash: String) -> Bool { salt(of: hash) != nil }

    /// The hash of `password` with the salt of `hash`; nil when that is none, or the password is too long.
    static func make(_ password: Span<UInt8>, withSaltOf hash: String) -> [UInt8]? {
        guard password.count <= passwordLimit, let salt = salt(of: hash) else { return nil }
        var text = Array(magic.description.utf8)
        text += salt
        text.append(dollar)
        append(digest(password, salt.span).array, to: &text)
        return text
    }

    private static func salt(of hash: String) -> [UInt8]? {
        guard hash.hasPrefix(magic.description) else { return nil }
        let rest = hash.utf8.dropFirst(magic.utf8CodeUnitCount).split(
            separator: dollar, omittingEmptySubsequences: false)
        guard rest.count == 2, (1...saltLimit).contains(rest[0].count), rest[1].count == 22,
            rest[1].allSatisfy(digits.contains)
        else { return nil }
        return Array(rest[0])
    }

    private static func digest(_ password: Span<UInt8>, _ salt: Span<UInt8>) -> DigestValue {
        var inner = MessageDigest(.md5)
        inner.update(password)
        inner.update(salt)
        inner.update(password)
        let mixed = inner.finish().array

        var outer = MessageDigest(.md5)
        outer.update(password)
        outer.update(magic)
        outer.update(salt)
        var rest = password.count
        while rest > 0 {
            outer.update(mixed.span.extracting(first: min(16, rest)))
            rest -= 16
        }
        // The original meant something else here; hashes depend on what it did.
        let zero: [UInt8] = [0]
        rest = password.count
        while rest > 0 {
            outer.update(rest & 1 == 1 ? zero.span : password.extracting(first: 1))
            rest >>= 1
        }
        var result = outer.finish()
        for round in 0..<rounds {
            var next = MessageDigest(.md5)
            if round & 1 == 1 { next.update(password) } else { next.update(result) }
            if round % 3 != 0 { next.update(salt) }
            if round % 7 != 0 { next.update(password) }
            if round & 1 == 1 { next.update(result) } else { next.update(password) }
            result = next.finish()
        }
        return result
    }

    private static func append(_ digest: [UInt8], to text: inout [UInt8]) {
        for (first, second, third) in groups {
            append(UInt32(digest[first]) << 16 | UInt32(digest[second]) << 8 | UInt32(digest[third]), 4, to: &text)
        }
        append(UInt32(digest[11]), 2, to: &text)
    }

    /// Six bits to a digit, the lowest first.
    private static func append(_ number: UInt32, _ count: Int, to text: inout [UInt8]) {
        for place in 0..<count { text.append(digits[Int(number >> UInt32(6 * place)) & 0x3F]) }
    }

    private static let dollar = UInt8(ascii: "$")
}
