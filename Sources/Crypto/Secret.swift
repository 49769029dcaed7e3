import COpenSSL

/// The bytes of a password or key. They are zeroed with the last reference, compared in constant time, and absent from
/// every description, dump and error.
///
/// `@unchecked Sendable`: the initialiser writes the storage before any other thread can see it, and it never changes.
public final class Secret: @unchecked Sendable {
    private let storage: UnsafeMutableBufferPointer<UInt8>

    public init(_ bytes: Span<UInt8>) {
        storage = .allocate(capacity: bytes.count)
        for offset in 0..<bytes.count { storage.initializeElement(at: offset, to: bytes[offset]) }
    }

    /// Takes the UTF-8 of `text`. The caller's string is not wiped: use this for text that is not secret yet, or in
    /// tests.
    public convenience init(_ text: String) {
        self.init(text.utf8Span.span)
    }

    /// Takes the bytes, and zeroes their array.
    public convenience init(wiping bytes: inout [UInt8]) {
        self.init(bytes.span)
        bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        bytes.removeAll()
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    public var count: Int { storage.count }

    /// Lends the bytes. Copies that `body` makes are no longer protected by this type.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(storage).span)
    }
}

extension Secret: Equatable {
    public static func == (left: Secret, right: Secret) -> Bool {
        left.withBytes { mine in right.withBytes { theirs in ConstantTime.equal(mine, theirs) } }
    }
}

extension [UInt8] {
    /// Appends the bytes of a secret. Reserve the capacity before, since a growing array leaves copies behind.
    public mutating func append(_ secret: Secret) {
        secret.withBytes { bytes in
            for offset in bytes.indices { append(bytes[offset]) }
        }
    }
}

extension Secret: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: []) }
}

public enum ConstantTime {
    /// Whether the bytes are equal, in a time that depends on their number only.
    public static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBufferPointer { mine in
            right.withUnsafeBufferPointer { theirs in
                guard let first = mine.baseAddress, let second = theirs.baseAddress else { return true }
                return CRYPTO_memcmp(first, second, mine.count) == 0
            }
        }
    }
}
