import Bytes
import Crypto

/// The nonces of one protection space: a serial number, the time they were made, and a code over both under a key that
/// lasts as long as this value (RFC 7616 section 3.3). Only nonces that were used correctly take memory.
struct PracticeNonces {
    /// Milliseconds for which a nonce is good.
    let lifetime: UInt64
    private let code: MessageAuthenticationCode
    private var serial: UInt64 = 0
    /// The nonces up to this serial are good no more.
    private var forgotten: UInt64 = 0
    private var windows: [UInt64: CountWindow] = [:]

    static let limit = 1024
    private static let codeLength = 16
    private static let length = 16 + codeLength

    init(lifetime: UInt64, code: MessageAuthenticationCode) {
        self.lifetime = lifetime
        self.code = code
    }

    /// A new nonce: 64 hexadecimal digits.
    mutating func make(now: UInt64) -> String {
        serial += 1
        let stamp = Self.bytes(serial) + Self.bytes(now)
        return Hex.encode(stamp + code.code(of: stamp.span).array.prefix(Self.codeLength))
    }

    /// Uses up one count of a nonce. False: the nonce is not ours or too old, or the count was used before; a new
    /// nonce helps.
    mutating func use(_ nonce: [UInt8], count: UInt32, now: UInt64) -> Bool {
        guard let bytes = Hex.decode(nonce.span.text), bytes.count == Self.length else { return false }
        let expected = code.code(of: bytes.span.extracting(first: 16)).array.prefix(Self.codeLength)
        guard ConstantTime.equal(Array(expected).span, bytes.span.extracting(16..<Self.length)) else { return false }
        let number = Self.number(bytes[0..<8])
        let madeAt = Self.number(bytes[8..<16])
        guard number > forgotten, now >= madeAt, now - madeAt <= lifetime else { return false }
        if windows[number] == nil, windows.count >= Self.limit {
            // All begin anew: one more round trip each, where keeping some would mean to know which were used.
            windows.removeAll()
            forgotten = serial
            return false
        }
        return windows[number, default: CountWindow()].use(count)
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
