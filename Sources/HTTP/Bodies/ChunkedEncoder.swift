import Bytes

/// Writes the chunked coding (RFC 9112 section 7.1).
public enum ChunkedEncoder {
    /// Appends the last chunk and an empty trailer section.
    public static func appendEnd(to buffer: ByteBuffer) {
        buffer.append(literal: "0\r\n\r\n")
    }

    /// Appends a complete chunk; nothing if `data` is empty, since a chunk of no bytes ends the body.
    public static func append(_ data: Span<UInt8>, to buffer: ByteBuffer) {
        if data.isEmpty { return }
        buffer.append(hexadecimal: data.count)
        buffer.append(literal: "\r\n")
        buffer.append(data)
        buffer.append(literal: "\r\n")
    }
}
