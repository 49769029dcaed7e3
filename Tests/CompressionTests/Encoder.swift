import CZlib

/// zlib's own encoder: what real servers send.
enum Encoder {
    enum Wrapping: CInt, CaseIterable {
        case gzip = 31
        case zlib = 15
        case raw = -15
    }

    static func encode(_ bytes: [UInt8], _ wrapping: Wrapping, level: CInt = 6, dictionary: [UInt8] = []) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, level, Z_DEFLATED, wrapping.rawValue, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
        if !dictionary.isEmpty { deflateSetDictionary(&stream, dictionary, CUnsignedInt(dictionary.count)) }
        var source = bytes
        var coded = [UInt8](repeating: 0, count: Int(deflateBound(&stream, CUnsignedLong(bytes.count))))
        let count = source.withUnsafeMutableBufferPointer { readable in
            coded.withUnsafeMutableBufferPointer { writable in
                stream.next_in = readable.baseAddress
                stream.avail_in = CUnsignedInt(readable.count)
                stream.next_out = writable.baseAddress
                stream.avail_out = CUnsignedInt(writable.count)
                let result = deflate(&stream, Z_FINISH)
                precondition(result == Z_STREAM_END)
                return writable.count - Int(stream.avail_out)
            }
        }
        deflateEnd(&stream)
        return Array(coded[..<count])
    }
}
