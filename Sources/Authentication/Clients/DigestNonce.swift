import Bytes
import Crypto

/// A nonce of ours: when it was made, a number that no other has, and a code over both. Whoever has the key can tell
/// that it is ours and how old it is, without having kept it.
struct DigestNonce: Sendable, Hashable {
    /// Milliseconds since 1970.
    let time: UInt64
    /// Random.
    let number: UInt64

    private static let codeCount = 16
    /// Hexadecimal digits of a nonce: 8 bytes of time, 8 of the number, 16 of the code.
    static let length = 2 * (16 + codeCount)

    init(time: UInt64, number: UInt64) {
        self.time = time
        self.number = number
    }

    /// Nil when it was not made with this key.
    init?(_ text: Span<UInt8>, code: borrowing MessageAuthenticationCode) {
        guard text.count == Self.length, let time = Self.number(text.extracting(0..<16)),
            let number = Self.number(text.extracting(16..<32))
        else { return nil }
        self.init(time: time, number: number)
        let isOurs = self.code(code).withHexadecimal { digits in
            ConstantTime.equal(digits.extracting(first: 2 * Self.codeCount), text.extracting(32..<Self.length))
        }
        guard isOurs else { return nil }
    }

    /// When a nonce was made that is known to be ours.
    static func time(of text: Span<UInt8>) -> UInt64? {
        text.count == length ? number(text.extracting(0..<16)) : nil
    }

    /// 64 hexadecimal digits: nothing that any client could take for anything else.
    func text(_ code: borrowing MessageAuthenticationCode) -> String {
        let buffer = ByteBuffer(capacity: Self.length)
        buffer.append(self.digits(of: time))
        buffer.append(self.digits(of: number))
        self.code(code).withHexadecimal { buffer.append($0.extracting(first: 2 * Self.codeCount)) }
        return buffer.readable.text
    }

    private func digits(of number: UInt64) -> [UInt8] {
        (0..<16).map { place in
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * place)) & 0xF
            return digit < 10 ? 0x30 + digit : 0x57 + digit
        }
    }

    private func code(_ code: borrowing MessageAuthenticationCode) -> DigestValue {
        let bytes = InlineArray<16, UInt8> { place in
            let part = place < 8 ? time : number
            return UInt8(truncatingIfNeeded: part >> UInt64(56 - 8 * (place & 7)))
        }
        return code.code(of: bytes.span)
    }

    /// Lower case only: a nonce comes back as it was sent.
    private static func number(_ digits: Span<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for offset in 0..<digits.count {
            guard let digit = digits[offset].hexValue else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}
