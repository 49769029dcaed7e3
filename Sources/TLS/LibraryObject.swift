import COpenSSL

/// A reference-counted object of OpenSSL that is shared and no longer changed. The last reference frees it.
///
/// `@unchecked Sendable`: OpenSSL counts atomically. What it computes later inside such an object (the decoded
/// extensions of a certificate, the order of a store) it guards with the object's own lock.
final class LibraryObject: @unchecked Sendable {
    let pointer: OpaquePointer
    private let free: @Sendable (OpaquePointer?) -> Void

    init(takingOwnership pointer: OpaquePointer, free: @escaping @Sendable (OpaquePointer?) -> Void) {
        self.pointer = pointer
        self.free = free
    }

    deinit { free(pointer) }

    /// Decodes one object in DER; nil for other bytes, and if more follow it. Leaves the error queue empty.
    static func decoded(
        _ der: Span<UInt8>, by decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?,
        free: (OpaquePointer?) -> Void
    ) -> OpaquePointer? {
        defer { ERR_clear_error() }
        return der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var next = bytes.baseAddress
            guard let object = decode(&next, bytes.count) else { return nil }
            if let start = bytes.baseAddress, let next, next - start == bytes.count { return object }
            free(object)
            return nil
        }
    }

    /// The DER that OpenSSL's encoder allocates and writes; nil if it fails.
    static func encoding(by encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8]? {
        var start: UnsafeMutablePointer<UInt8>?
        let count = encode(&start)
        defer { CRYPTO_free(start, nil, 0) }
        guard let start, count > 0 else { return nil }
        return [UInt8](UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
