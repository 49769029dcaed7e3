import Bytes
import Crypto
import Synchronization

/// Makes the nonces of our own Digest challenges, and tells which of them may be used (RFC 7616 section 3.3 and 5.4).
///
/// They are not kept, so any process with the same key takes the nonces of any other. Which counts were used is known
/// in each process alone: what one of them has seen, another would take once more while the nonce lives.
public final class DigestNonces: Sendable {
    /// Milliseconds that a nonce lives, where nothing else is said.
    public static let usualLifetime = 300_000
    /// Nonces remembered in each part of the table.
    private static let partCapacity = 4096
    private static let partCount = 16

    private let lifetime: Int
    /// By the nonce's own number, so that loops seldom wait for each other.
    private let parts: [Part]
    private let key: Mutex<MessageAuthenticationCode>

    private final class Part: Sendable {
        let table: Mutex<NonceTable>
        init(capacity: Int) { table = Mutex(NonceTable(capacity: capacity)) }
    }

    /// - Parameters:
    ///   - key: shared with those whose nonces are to be taken; nil: nobody's but our own.
    ///   - lifetime: milliseconds that a nonce lives.
    public convenience init(key: Secret?, lifetime: Int = DigestNonces.usualLifetime) throws(CryptoError) {
        let code: MessageAuthenticationCode = if let key { .init(key: key) } else { try .withRandomKey() }
        self.init(code, lifetime: lifetime)
    }

    init(
        _ code: MessageAuthenticationCode, lifetime: Int = DigestNonces.usualLifetime,
        partCapacity: Int = DigestNonces.partCapacity
    ) {
        self.lifetime = max(0, lifetime)
        key = Mutex(code)
        parts = (0..<Self.partCount).map { _ in Part(capacity: partCapacity) }
    }

    /// From now on nonces are made with this key; those of the former are stale.
    public func replaceKey(with secret: Secret) {
        let code = MessageAuthenticationCode(key: secret)
        key.withLock { $0 = code }
    }

    /// A new nonce.
    /// - Parameter now: milliseconds since 1970.
    public func make(at now: Int) throws(CryptoError) -> String {
        let number = try RandomBytes.make(8).reduce(0) { $0 << 8 | UInt64($1) }
        let nonce = DigestNonce(time: UInt64(clamping: now), number: number)
        return key.withLock { nonce.text($0) }
    }

    /// Whether the nonce is ours and lives, and the count is used for the first time; then it is used. To be asked when
    /// all else is proved: false is what `stale=true` says.
    public func use(_ nonce: Span<UInt8>, count: UInt32, at now: Int) -> Bool {
        guard let nonce = key.withLock({ DigestNonce(nonce, code: $0) }) else { return false }
        let now = UInt64(clamping: now)
        let lifetime = UInt64(lifetime)
        // Another process's clock may be ahead of ours.
        guard nonce.time <= now &+ lifetime, now <= nonce.time &+ lifetime else { return false }
        let part = parts[Int(truncatingIfNeeded: nonce.number % UInt64(Self.partCount))]
        return part.table.withLock { $0.use(nonce, count: count) }
    }

    /// Whether a nonce of ours is in the last fifth of its life, so that its user should have the next one.
    public func isLate(_ nonce: Span<UInt8>, at now: Int) -> Bool {
        guard let time = DigestNonce.time(of: nonce) else { return false }
        return UInt64(clamping: now) > time &+ UInt64(lifetime - lifetime / 5)
    }
}

/// The nonces that were used, each with its window of counts; no more than there is room for. Without I/O and clock.
///
/// An entry that has to go to make room would be new again if it came back. So everything of its age and older that is
/// not in the table is refused from then on: a client gets a new nonce then, and nothing is ever taken twice.
struct NonceTable: Sendable {
    private var windows: [DigestNonce: NonceWindow] = [:]
    /// In the order in which they were first used: a ring, whose oldest stands at `oldest` when it is full.
    private var order: [DigestNonce] = []
    private var oldest = 0
    /// A nonce that is not in the table and was made then or earlier is refused.
    private var floor: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { windows.count }

    /// Whether this count of the nonce is used for the first time. The nonce is ours, and lives.
    mutating func use(_ nonce: DigestNonce, count: UInt32) -> Bool {
        if let index = windows.index(forKey: nonce) { return windows.values[index].use(count) }
        guard nonce.time > floor else { return false }
        if order.count < capacity {
            order.append(nonce)
        } else {
            let former = order[oldest]
            windows[former] = nil
            floor = max(floor, former.time)
            order[oldest] = nonce
            oldest = (oldest + 1) % capacity
            // The nonce itself may be of the age that has just gone; it is here now, and is remembered.
        }
        windows[nonce] = NonceWindow(count)
        return true
    }
}

/// The counts of one nonce that were used: the highest, and which of those just below it. A client with many requests
/// under way has them arrive in any order, so each count that was not seen is good, as long as it is not too far
/// behind.
struct NonceWindow: Sendable, Equatable {
    /// How far behind the highest a count may come in.
    static let width: UInt32 = 128

    private(set) var highest: UInt32
    /// The lowest bit is that of `highest`, the next that of the count below it.
    private var seen: UInt128

    /// - Parameter count: the one that is used now.
    init(_ count: UInt32) {
        highest = count
        seen = 1
    }

    /// Whether the count is used for the first time, as far as that is known.
    mutating func use(_ count: UInt32) -> Bool {
        if count > highest {
            let step = count - highest
            seen = step < Self.width ? seen << UInt128(step) | 1 : 1
            highest = count
            return true
        }
        let behind = highest - count
        guard behind < Self.width, seen & 1 << UInt128(behind) == 0 else { return false }
        seen |= 1 << UInt128(behind)
        return true
    }
}

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
