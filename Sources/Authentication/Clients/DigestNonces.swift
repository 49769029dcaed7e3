import Bytes
import Crypto
import Synchronization

/// Makes the nonces of the proxy's own Digest challenges, and decides which are accepted (RFC 7616 sections 3.3 and
/// 5.4).
///
/// Nonces are not stored, so every process with the same key accepts the nonces of the others. Used counts are known in
/// each process only. So two processes can accept one count once each while the nonce is valid.
public final class DigestNonces: Sendable {
    /// The default lifetime of a nonce.
    public static let usualLifetime: Milliseconds = .minutes(5)
    /// The limit of nonces in each part of the table.
    private static let partCapacity = 4096
    private static let partCount = 16

    private let lifetime: Milliseconds
    /// The parts of the table, selected by the nonce's number, so that loops seldom wait for each other.
    private let parts: [Part]
    private let key: Mutex<MessageAuthenticationCode>

    private final class Part: Sendable {
        let table: Mutex<DigestNonces.Table>
        init(capacity: Int) { table = Mutex(DigestNonces.Table(capacity: capacity)) }
    }

    /// - Parameters:
    ///   - key: shared with the processes whose nonces are accepted; nil: only the nonces of this process are.
    ///   - lifetime: the lifetime of a nonce.
    public convenience init(key: Secret?, lifetime: Milliseconds = DigestNonces.usualLifetime) throws(CryptoError) {
        let code: MessageAuthenticationCode = if let key { .init(key: key) } else { try .withRandomKey() }
        self.init(code, lifetime: lifetime)
    }

    init(
        _ code: MessageAuthenticationCode, lifetime: Milliseconds = DigestNonces.usualLifetime,
        partCapacity: Int = DigestNonces.partCapacity
    ) {
        self.lifetime = max(0, lifetime)
        key = Mutex(code)
        parts = (0..<Self.partCount).map { _ in Part(capacity: partCapacity) }
    }

    /// Replaces the key. Nonces made with the former key become stale.
    public func replaceKey(with secret: Secret) {
        let code = MessageAuthenticationCode(key: secret)
        key.withLock { $0 = code }
    }

    /// Makes a new nonce.
    public func make(at now: WallTime) throws(CryptoError) -> String {
        let number = try RandomBytes.make(8).reduce(0) { $0 << 8 | UInt64($1) }
        let nonce = DigestNonces.Nonce(time: UInt64(clamping: now.milliseconds), number: number)
        return key.withLock { nonce.text($0) }
    }

    /// Uses a count of a nonce: true if the nonce is ours and valid, and the count was not used before. Call it after
    /// all other checks: false means `stale=true`.
    public func use(_ nonce: Span<UInt8>, count: UInt32, at now: WallTime) -> Bool {
        guard let nonce = key.withLock({ DigestNonces.Nonce(nonce, code: $0) }) else { return false }
        let now = UInt64(clamping: now.milliseconds)
        let lifetime = UInt64(lifetime.count)
        // The clock of another process may be ahead.
        guard nonce.time <= now &+ lifetime, now <= nonce.time &+ lifetime else { return false }
        let part = parts[Int(truncatingIfNeeded: nonce.number % UInt64(Self.partCount))]
        return part.table.withLock { $0.use(nonce, count: count) }
    }

    /// Whether one of our nonces is in the last fifth of its lifetime, so that its user should get the next one.
    public func isLate(_ nonce: Span<UInt8>, at now: WallTime) -> Bool {
        guard let time = DigestNonces.Nonce.time(of: nonce) else { return false }
        return UInt64(clamping: now.milliseconds) > time &+ UInt64((lifetime - lifetime / 5).count)
    }

    /// The used nonces, each with its window of counts, up to a capacity. Without I/O and clock.
    ///
    /// An entry that is removed to make room could be used again. So from then on every nonce of its age or older that is
    /// not in the table is refused. A client then gets a new nonce, and no count is ever accepted twice.
    struct Table: Sendable {
        private var windows: [DigestNonces.Nonce: DigestNonces.Window] = [:]
        /// The nonces in the order of their first use. When it is full it is a ring, whose oldest entry is at `oldest`.
        private var order: [DigestNonces.Nonce] = []
        private var oldest = 0
        /// A nonce that is not in the table and was made at that time or earlier is refused.
        private var floor: UInt64 = 0
        private let capacity: Int

        init(capacity: Int) { self.capacity = max(1, capacity) }

        var count: Int { windows.count }

        /// Uses a count of a nonce that is ours and valid; true if the count was not used before.
        mutating func use(_ nonce: DigestNonces.Nonce, count: UInt32) -> Bool {
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
                // The nonce may be as old as the removed one. It is in the table now.
            }
            windows[nonce] = DigestNonces.Window(count)
            return true
        }
    }

    /// The used counts of one nonce: the highest, and which of those just below it. Requests that a client sends in
    /// parallel arrive in any order. So each unused count is accepted if it is not too far below the highest.
    struct Window: Sendable, Equatable {
        /// The largest accepted distance of a count below the highest.
        static let width: UInt32 = 128

        private(set) var highest: UInt32
        /// The used counts: the lowest bit is for `highest`, the next for the count below it.
        private var seen: UInt128

        /// - Parameter count: the count that is used now.
        init(_ count: UInt32) {
            highest = count
            seen = 1
        }

        /// Uses a count; true if it was not used before, as far as the window shows.
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

    /// A nonce of the proxy: its time, a unique number, and a code over both. With the key one can verify it and its age
    /// without having stored it.
    struct Nonce: Sendable, Hashable {
        /// The time when the nonce was made, in milliseconds since 1970.
        let time: UInt64
        /// A random number.
        let number: UInt64

        private static let codeCount = 16
        /// The hexadecimal digits of a nonce: 8 bytes of time, 8 of the number, 16 of the code.
        static let length = 2 * (16 + codeCount)

        init(time: UInt64, number: UInt64) {
            self.time = time
            self.number = number
        }

        /// Reads a nonce; nil if it was not made with this key.
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

        /// The time when one of our nonces was made.
        static func time(of text: Span<UInt8>) -> UInt64? {
            text.count == length ? number(text.extracting(0..<16)) : nil
        }

        /// The nonce as 64 hexadecimal digits, which no client can misread.
        func text(_ code: borrowing MessageAuthenticationCode) -> String {
            let buffer = ByteBuffer(capacity: Self.length)
            let bytes = bytes
            buffer.append(Hex.encode(bytes.span.array))
            self.code(code).withHexadecimal { buffer.append($0.extracting(first: 2 * Self.codeCount)) }
            return buffer.readable.text
        }

        private var bytes: InlineArray<16, UInt8> {
            InlineArray { place in
                let part = place < 8 ? time : number
                return UInt8(truncatingIfNeeded: part >> UInt64(56 - 8 * (place & 7)))
            }
        }

        private func code(_ code: borrowing MessageAuthenticationCode) -> MessageDigest.Value {
            let bytes = bytes
            return code.code(of: bytes.span)
        }

        /// Accepts lower case only: a client returns a nonce unchanged.
        private static func number(_ digits: Span<UInt8>) -> UInt64? {
            var number: UInt64 = 0
            for offset in 0..<digits.count {
                guard let digit = digits[offset].hexValue else { return nil }
                number = number << 4 | UInt64(digit)
            }
            return number
        }
    }
}
