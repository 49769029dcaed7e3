import COpenSSL

/// A `STACK_OF(…)` of objects that belong to others: the stack alone is freed.
struct ObjectStack: ~Copyable {
    let pointer: OpaquePointer

    /// Nil only without memory.
    init?(_ objects: [OpaquePointer]) {
        guard let stack = OPENSSL_sk_new_reserve(nil, Int32(clamping: objects.count)) else { return nil }
        pointer = stack
        for object in objects { OPENSSL_sk_push(stack, UnsafeRawPointer(object)) }
    }

    deinit { OPENSSL_sk_free(pointer) }

    /// What a stack that is borrowed holds.
    static func objects(in stack: OpaquePointer?) -> [OpaquePointer] {
        (0..<max(0, OPENSSL_sk_num(stack))).compactMap { OPENSSL_sk_value(stack, $0).map { OpaquePointer($0) } }
    }
}
