import Bytes
import Compression
import Testing

struct InflaterTests {
    static let text = Array(
        (0..<400).map { "\($0 * 7919 % 1000) bottles of beer on the wall, " }.joined().utf8)

    /// Decodes a body that arrives in pieces of `piece` bytes, into `room` bytes at a time.
    static func decode(
        _ coded: [UInt8], _ coding: ContentCoding, limits: Inflater.Limits = Inflater.Limits(), piece: Int = 1 << 20,
        room: Int = 4096
    ) throws(Inflater.Failure) -> [UInt8] {
        var inflater = try Inflater(coding, limits: limits)
        let buffer = ByteBuffer(capacity: room)
        var decoded: [UInt8] = []
        var offset = 0
        var isOutputWaiting = false
        while offset < coded.count || isOutputWaiting {
            let input = coded.span.extracting(offset..<min(offset + piece, coded.count))
            let progress = try inflater.decode(input, into: buffer, room: room)
            #expect(buffer.count <= room)
            offset += progress.consumed
            isOutputWaiting = progress.isOutputWaiting
            decoded += buffer.readable.array
            buffer.clear()
        }
        try inflater.finish()
        return decoded
    }

    static func coding(_ wrapping: Encoder.Wrapping) -> ContentCoding { wrapping == .gzip ? .gzip : .deflate }

    @Test(arguments: Encoder.Wrapping.allCases, [1, 2, 7, 1000, 1 << 20])
    func `a body decodes in pieces of any size`(wrapping: Encoder.Wrapping, piece: Int) throws {
        for level: CInt in [0, 1, 9] {
            let coded = Encoder.encode(Self.text, wrapping, level: level)
            for room in [1, 100, 1 << 16] {
                let decoded = try Self.decode(coded, Self.coding(wrapping), piece: piece, room: room)
                #expect(decoded == Self.text)
            }
        }
    }

    @Test(arguments: Encoder.Wrapping.allCases)
    func `an encoded empty body and no body at all are empty`(wrapping: Encoder.Wrapping) throws {
        #expect(try Self.decode(Encoder.encode([], wrapping), Self.coding(wrapping)).isEmpty)
        #expect(try Self.decode([], Self.coding(wrapping)).isEmpty)
    }

    @Test(arguments: [1, 1 << 20])
    func `gzip members that follow each other are one body`(piece: Int) throws {
        let members = [Self.text, [], Array("end".utf8)]
        let coded = members.flatMap { Encoder.encode($0, .gzip) }
        #expect(try Self.decode(coded, .gzip, piece: piece) == members.flatMap(\.self))
    }

    @Test(arguments: Encoder.Wrapping.allCases)
    func `a body cut anywhere is truncated`(wrapping: Encoder.Wrapping) throws {
        let coded = Encoder.encode(Array(Self.text[..<300]), wrapping)
        for count in 1..<coded.count {
            #expect(throws: Inflater.Failure.truncated) {
                try Self.decode(Array(coded[..<count]), Self.coding(wrapping), piece: 5)
            }
        }
        #expect(throws: Inflater.Failure.truncated) {
            try Self.decode(Encoder.encode([1], .gzip) + [0x1F, 0x8B], .gzip)
        }
    }

    @Test(arguments: Encoder.Wrapping.allCases, [1, 1 << 20])
    func `zeros behind the end are padding, all else is refused`(wrapping: Encoder.Wrapping, piece: Int) throws {
        let coded = Encoder.encode(Self.text, wrapping)
        let coding = Self.coding(wrapping)
        #expect(try Self.decode(coded + [0, 0, 0], coding, piece: piece) == Self.text)
        for tail: [UInt8] in [[0x61], [0, 0x0A], Array("GET / HTTP/1.1".utf8)] {
            #expect(throws: Inflater.Failure.trailingBytes) { try Self.decode(coded + tail, coding, piece: piece) }
        }
        #expect(throws: wrapping == .gzip ? Inflater.Failure.malformed : .trailingBytes) {
            try Self.decode(coded + [0x1F, 0x61], coding, piece: piece)
        }
    }

    @Test func `a flipped bit is noticed wherever it changes the body`() {
        let coded = Encoder.encode(Array(Self.text[..<300]), .gzip)
        for index in coded.indices {
            for bit in 0..<8 {
                var damaged = coded
                damaged[index] ^= 1 << UInt8(bit)
                if let decoded = try? Self.decode(damaged, .gzip) {
                    #expect(decoded == Array(Self.text[..<300]), "byte \(index) bit \(bit)")
                    #expect((3..<10).contains(index), "only the header may differ unnoticed, not byte \(index)")
                }
            }
        }
    }

    @Test(arguments: [
        Array("<html>not gzip at all</html>".utf8), [0x1F, 0x8C, 8, 0], [0x1F, 0x8B, 7, 0, 0, 0, 0, 0, 0, 0],
    ])
    func `content that is not gzip is refused`(bytes: [UInt8]) {
        #expect(throws: Inflater.Failure.malformed) { try Self.decode(bytes, .gzip) }
        #expect(throws: Inflater.Failure.malformed) { try Self.decode(bytes, .gzip, piece: 1) }
    }

    @Test func `a preset dictionary is refused, since HTTP has none`() {
        let coded = Encoder.encode(Self.text, .zlib, dictionary: Array("bottles of beer".utf8))
        #expect(throws: Inflater.Failure.malformed) { try Self.decode(coded, .deflate) }
    }

    @Test(arguments: Encoder.Wrapping.allCases)
    func `a bomb is refused soon after the ratio is passed`(wrapping: Encoder.Wrapping) throws {
        let coded = Encoder.encode([UInt8](repeating: 0, count: 64 << 20), wrapping, level: 9)
        var inflater = try Inflater(Self.coding(wrapping))
        let buffer = ByteBuffer(capacity: 1 << 16)
        var consumed = 0
        var decoded = 0
        #expect(throws: Inflater.Failure.ratioExceeded(limit: 100)) {
            while true {
                let input = coded.span.extracting(consumed...)
                consumed += try inflater.decode(input, into: buffer, room: 1 << 16).consumed
                decoded += buffer.count
                buffer.clear()
            }
        }
        #expect(decoded <= 1 << 20)
        #expect(buffer.capacity == 1 << 16)
    }

    @Test func `a bomb behind an honest beginning is refused`() {
        let honest = Encoder.encode(Self.text, .gzip)
        let bomb = Encoder.encode([UInt8](repeating: 0, count: 8 << 20), .gzip)
        let limits = Inflater.Limits(ratio: 20, freeBytes: 100_000)
        #expect(throws: Inflater.Failure.ratioExceeded(limit: 20)) {
            try Self.decode(honest + bomb, .gzip, limits: limits, piece: 512)
        }
    }

    @Test func `a short body of one byte repeated is harmless`() throws {
        let bytes = [UInt8](repeating: 0x20, count: 1 << 20)
        #expect(try Self.decode(Encoder.encode(bytes, .gzip, level: 9), .gzip) == bytes)
    }

    @Test func `a higher ratio lets more through`() throws {
        let bytes = [UInt8](repeating: 0, count: 4 << 20)
        let coded = Encoder.encode(bytes, .gzip, level: 9)
        #expect(throws: Inflater.Failure.self) { try Self.decode(coded, .gzip) }
        #expect(try Self.decode(coded, .gzip, limits: Inflater.Limits(ratio: 1100)).count == bytes.count)
        #expect(throws: Inflater.Failure.ratioExceeded(limit: 1)) {
            try Self.decode(coded, .gzip, limits: Inflater.Limits(ratio: 0, freeBytes: 0))
        }
    }

    @Test func `a failed inflater stays failed`() throws {
        var inflater = try Inflater(.gzip)
        let buffer = ByteBuffer(capacity: 64)
        let garbage = Array("garbage".utf8)
        #expect(throws: Inflater.Failure.malformed) {
            try inflater.decode(garbage.span, into: buffer, room: 64)
        }
        let good = Encoder.encode([1, 2, 3], .gzip)
        #expect(throws: Inflater.Failure.malformed) { try inflater.decode(good.span, into: buffer, room: 64) }
        #expect(throws: Inflater.Failure.malformed) { try inflater.finish() }
        #expect(buffer.isEmpty)
    }

    @Test func `output goes behind what the buffer holds`() throws {
        var inflater = try Inflater(.gzip)
        let buffer = ByteBuffer(capacity: 64)
        buffer.append("held ")
        let coded = Encoder.encode(Array("body".utf8), .gzip)
        let progress = try inflater.decode(coded.span, into: buffer, room: 1000)
        #expect(progress.consumed == coded.count)
        #expect(!progress.isOutputWaiting)
        #expect(buffer.readable.text == "held body")
    }

    @Test(arguments: 0..<200)
    func `no bytes trap`(seed: Int) {
        var state = UInt64(seed)
        let noise = (0..<300).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        // Noise alone rarely passes a header; behind one it reaches the decoder.
        for coded in [noise, [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + noise, [0x78, 0x9C] + noise] {
            for coding in [ContentCoding.gzip, .deflate] {
                if let decoded = try? Self.decode(coded, coding, piece: 50, room: 64) {
                    #expect(decoded.count <= 1032 * coded.count)
                }
            }
        }
    }

    @Test(arguments: [("gzip", true), ("GZip", true), ("x-gzip", true), ("deflate", false), ("Deflate", false)])
    func `a coding has its names without regard to case`(name: String, isGzip: Bool) {
        let coding = ContentCoding(name: name.utf8Span.span)
        #expect(coding == (isGzip ? .gzip : .deflate))
    }

    @Test(arguments: ["", "br", "identity", "gzip, gzip", "gzip ", "zstd"])
    func `another coding is nobody's`(name: String) {
        let coding = ContentCoding(name: name.utf8Span.span)
        #expect(coding == nil)
    }
}
