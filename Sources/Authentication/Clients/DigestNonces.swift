import Bytes
import Crypto
import Synchronization

/// Makes the nonces of our own Digest challenges, and tells which of them may be used (RFC 7616 section 3.3 and 5.4).
///
/// They are not kept, so any process with the same key takes the nonces of any other. Which counts were used is known
/// in each process alone: what one of them has seen, another would take once more while the nonce lives.
public final class DigestNonces: Sendable {
    /// Milliseconds that a nonce lives.
    public static let lifetime = 300_000
    private static let lastPart = 60_000
    /// Nonces remembered in each part of the table.
    private static let partCapacity = 4096
    private static let partCount = 16

    /// By the nonce's own number, so that loops seldom wait for each other.
    private let parts: [Part]
    private let key: Mutex<MessageAuthenticationCode>

    private final class Part: Sendable {
        let table: Mutex<NonceTable>
        init(capacity: Int) { table = Mutex(NonceTable(capacity: capacity)) }
    }

    /// - Parameter key: shared with those whose nonces are to be taken; nil: nobody's but our own.
    public convenience init(key: Secret?) throws(CryptoError) {
        if let key { self.init(MessageAuthenticationCode(key: key)) } else { self.init(try .withRandomKey()) }
    }

    init(_ code: MessageAuthenticationCode, partCapacity: Int = DigestNonces.partCapacity) {
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
        let lifetime = UInt64(Self.lifetime)
        // Another process's clock may be ahead of ours.
        guard nonce.time <= now &+ lifetime, now <= nonce.time &+ lifetime else { return false }
        let part = parts[Int(truncatingIfNeeded: nonce.number % UInt64(Self.partCount))]
        return part.table.withLock { $0.use(nonce, count: count) }
    }

    /// Whether a nonce of ours is in the last part of its life, so that its user should have the next one.
    public func isLate(_ nonce: Span<UInt8>, at now: Int) -> Bool {
        guard let time = DigestNonce.time(of: nonce) else { return false }
        return UInt64(clamping: now) > time &+ UInt64(Self.lifetime - Self.lastPart)
    }
}
