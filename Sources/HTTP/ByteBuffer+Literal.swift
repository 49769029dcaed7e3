import Bytes

extension ByteBuffer {
    /// A bare literal would be taken for a `String`, which costs a detour.
    @inline(__always)
    func append(literal text: StaticString) { append(text) }
}
