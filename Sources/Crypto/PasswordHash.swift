import CCrypt
import COpenSSL

/// Password hashes of libcrypt (yescrypt, bcrypt, SHA-crypt), and Apache's MD5. Both calls take tens of milliseconds on
/// purpose: do not call them on a loop.
public enum PasswordHash {
    public enum Method: String, Sendable, CaseIterable {
        case yescrypt = "$y$"
        case bcrypt = "$2b$"
        case sha512 = "$6$"
        case sha256 = "$5$"
    }

    /// Whether `hash` uses a secure method that libcrypt supports here, or Apache's `$apr1$`, the default of `htpasswd`
    /// for decades. DES, MD5 (`$1$`) and unsalted SHA-1 are not supported.
    public static func isSupported(_ hash: String) -> Bool {
        if PasswordHash.Apache.isSupported(hash) { return true }
        let prefixes = ["$y$", "$gy$", "$7$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$"]
        return prefixes.contains { hash.hasPrefix($0) } && !hash.utf8.contains(0)
            && [CRYPT_SALT_OK, CRYPT_SALT_METHOD_LEGACY].contains(crypt_checksalt(hash))
    }

    /// Whether a check against a supported hash takes at most about a second and 128 MiB: up to a million rounds of
    /// SHA-crypt, and a cost of bcrypt up to 14.
    public static func isAffordable(_ hash: String) -> Bool {
        PasswordHash.Apache.isSupported(hash) || PasswordHash.Cost.isBounded(hash)
    }

    /// Whether `hash` was made from `password`. Blocks; safe from any thread. False for a password with a zero byte,
    /// since C would truncate it, and for a hash that is not affordable.
    public static func verify(_ password: Secret, against hash: String) -> Bool {
        if PasswordHash.Apache.isSupported(hash) {
            guard let made = password.withBytes({ PasswordHash.Apache.make($0, withSaltOf: hash) }) else {
                return false
            }
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
            (0..<bytes.count).map { CChar(truncatingIfNeeded: bytes[$0]) }
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

    /// Apache's password hash `$apr1$`: a thousand rounds of MD5 over password and salt, as in `htpasswd -m` and `openssl
    /// passwd -apr1`. libcrypt does not support it. It is FreeBSD's `$1$` under another name.
    fileprivate enum Apache {
        static let magic: StaticString = "$apr1$"
        private static let saltLimit = 8
        /// The limit of libcrypt: a longer password would only take long to hash.
        private static let passwordLimit = 511
        private static let rounds = 1000
        /// The bytes of the digest that give four digits each, the first in the highest bits; byte 11 then gives two
        /// digits.
        private static let groups: [(Int, Int, Int)] = [(0, 6, 12), (1, 7, 13), (2, 8, 14), (3, 9, 15), (4, 10, 5)]
        private static let digits = Array("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

        /// Whether the text is a complete hash of this kind: magic, salt, `$` and 22 digits.
        static func isSupported(_ hash: String) -> Bool { salt(of: hash) != nil }

        /// The hash of `password` with the salt of `hash`; nil if `hash` is invalid, or if the password is too long.
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

        private static func digest(_ password: Span<UInt8>, _ salt: Span<UInt8>) -> MessageDigest.Value {
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
            // The original code has an error here, on which all hashes depend.
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

        /// Appends digits of six bits each, the lowest first.
        private static func append(_ number: UInt32, _ count: Int, to text: inout [UInt8]) {
            for place in 0..<count { text.append(digits[Int(number >> UInt32(6 * place)) & 0x3F]) }
        }

        private static let dollar = UInt8(ascii: "$")
    }

    /// The cost of a check, from the parameters in the hash (crypt(5)). Each login pays it. Without a limit, a line of a
    /// file could occupy a thread for hours or take all memory.
    fileprivate enum Cost {
        /// The limit of rounds: a third of a second on the machine of the measurement; passlib uses 656,000 by default.
        static let rounds = 1_000_000
        /// The limit for bcrypt, as a power of two: 0.8 s on that machine.
        static let logarithm = 14
        /// The limit for yescrypt and scrypt, in bytes: 0.2 to 0.4 s on that machine. A hash of `attache password` takes 16
        /// MiB.
        static let memory = 128 * 1024 * 1024

        /// Whether the hash stays within the limits. False if it cannot be parsed.
        static func isBounded(_ hash: String) -> Bool {
            let parts = hash.utf8.split(separator: UInt8(ascii: "$"), maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count >= 3, parts[0].isEmpty else { return false }
            let parameters = Array(parts[2])
            switch String(Substring(parts[1])) {
            case "5", "6": return isBoundedSHA(parameters)
            case "2a", "2b", "2x", "2y": return number(parameters[...]).map { $0 <= logarithm } ?? false
            case "y", "gy": return isBoundedYescrypt(parameters)
            case "7": return isBoundedScrypt(parameters)
            default: return false
            }
        }

        /// Checks `rounds=N`; without it the salt follows.
        private static func isBoundedSHA(_ parameters: [UInt8]) -> Bool {
            let word = Array("rounds=".utf8)
            guard parameters.starts(with: word) else { return true }
            return number(parameters[word.count...]).map { $0 <= rounds } ?? false
        }

        /// Checks flavour, block count and block size. Other parameters are refused: no tool writes them, and they multiply
        /// the cost.
        private static func isBoundedYescrypt(_ parameters: [UInt8]) -> Bool {
            var reader = VariableNumbers(bytes: parameters)
            guard reader.next(from: 0) != nil, let logarithm = reader.next(from: 1), let size = reader.next(from: 1),
                reader.isAtEnd
            else { return false }
            return isBounded(logarithm: logarithm, size: size)
        }

        /// Checks the block count in one digit, the block size in five, the parallelism in five; the salt follows.
        private static func isBoundedScrypt(_ parameters: [UInt8]) -> Bool {
            guard parameters.count >= 11 else { return false }
            let digits = parameters.prefix(11).compactMap { VariableNumbers.digit($0) }
            guard digits.count == 11 else { return false }
            let number = { (range: Range<Int>) in digits[range].reversed().reduce(0) { $0 << 6 | $1 } }
            return number(6..<11) == 1 && isBounded(logarithm: digits[0], size: number(1..<6))
        }

        private static func isBounded(logarithm: Int, size: Int) -> Bool {
            guard logarithm < 32, size <= memory else { return false }
            return size << logarithm <= memory / 128
        }

        private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
            guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        /// The numbers of yescrypt's parameters: the first digit gives the number of further digits.
        private struct VariableNumbers {
            let bytes: [UInt8]
            var offset = 0

            var isAtEnd: Bool { offset == bytes.count }

            mutating func next(from least: Int) -> Int? {
                guard let first = nextDigit() else { return nil }
                var (value, start, end, bits) = (least, 0, 47, 0)
                while first > end {
                    value += (end + 1 - start) << bits
                    start = end + 1
                    end = start + (62 - end) / 2
                    bits += 6
                }
                value += (first - start) << bits
                while bits > 0 {
                    guard let digit = nextDigit() else { return nil }
                    bits -= 6
                    value += digit << bits
                }
                return value
            }

            private mutating func nextDigit() -> Int? {
                guard offset < bytes.count, let digit = Self.digit(bytes[offset]) else { return nil }
                offset += 1
                return digit
            }

            /// The value of a digit in crypt's alphabet: `./0-9A-Za-z`.
            static func digit(_ byte: UInt8) -> Int? {
                switch byte {
                case 0x2E...0x39: Int(byte) - 0x2E
                case 0x41...0x5A: Int(byte) - 0x41 + 12
                case 0x61...0x7A: Int(byte) - 0x61 + 38
                default: nil
                }
            }
        }
    }
}
