import Bytes

/// Writes the chunked coding (RFC 9112 section 7.1): `header`, the data and `lineEnd` for each chunk, then `end`.
public enum ChunkedEncoder {
    /// Appends the size line of a chunk of `count` bytes, which is not 0: that would end the body.
    public static func appendHeader(count: Int, to buffer: ByteBuffer) {
        precondition(count > 0, "a chunk of no bytes ends the body")
        buffer.append(hexadecimal: count)
        buffer.append(literal: "\r\n")
    }

    /// Appends the line end after the data of a chunk.
    public static func appendLineEnd(to buffer: ByteBuffer) {
        buffer.append(literal: "\r\n")
    }

    /// Appends the last chunk and an empty trailer section.
    public static func appendEnd(to buffer: ByteBuffer) {
        buffer.append(literal: "0\r\n\r\n")
    }

    /// Appends a complete chunk; nothing if `data` is empty.
    public static func append(_ data: Span<UInt8>, to buffer: ByteBuffer) {
        if data.isEmpty { return }
        appendHeader(count: data.count, to: buffer)
        buffer.append(data)
        appendLineEnd(to: buffer)
    }
}
