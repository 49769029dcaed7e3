import Bytes

extension ByteBuffer {
    /// A bare literal would be taken for a `String`, which costs a detour.
    func append(literal text: StaticString) { append(text) }
}
