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
}
