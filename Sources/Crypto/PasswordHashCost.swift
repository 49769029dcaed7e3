/// What a password hash asks of whoever checks a password against it, as it stands in the hash itself (crypt(5)): each
/// login pays it, and an unbounded one would let a line of a file hold a thread for hours or take all memory.
enum PasswordHashCost {
    /// A third of a second on the machine this was measured on; passlib takes 656,000 by default.
    static let rounds = 1_000_000
    /// Of bcrypt, as a power of two: eight tenths of a second there.
    static let logarithm = 14
    /// Of yescrypt and scrypt, in bytes: 0.2 to 0.4 s there. What `attache password` makes takes 16 MiB.
    static let memory = 128 * 1024 * 1024

    /// Whether the hash stays within the limits. What cannot be read does not.
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

    /// `rounds=N`, or a salt where nothing is said.
    private static func isBoundedSHA(_ parameters: [UInt8]) -> Bool {
        let word = Array("rounds=".utf8)
        guard parameters.starts(with: word) else { return true }
        return number(parameters[word.count...]).map { $0 <= rounds } ?? false
    }

    /// Flavour, block count and block size, and no more: other parameters come from no tool, and multiply the cost.
    private static func isBoundedYescrypt(_ parameters: [UInt8]) -> Bool {
        var reader = VariableNumbers(parameters)
        guard reader.next(from: 0) != nil, let logarithm = reader.next(from: 1), let size = reader.next(from: 1),
            reader.isAtEnd
        else { return false }
        return isBounded(logarithm: logarithm, size: size)
    }

    /// The block count in one digit, the block size in five, the parallelism in five; the salt follows.
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
        guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The numbers of yescrypt's parameters: the first digit tells how many follow.
    private struct VariableNumbers {
        private let bytes: [UInt8]
        private var offset = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

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

        /// In crypt's alphabet: `./0-9A-Za-z`.
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
