import Bytes
import HTTP
import Testing

@Suite struct ChunkedTests {
    /// The result of a decoder that gets the bytes in pieces of `size`.
    struct Reading: Equatable {
        var content = ""
        var trailers: [String] = []
        var passed = 0
        var isEnded = false
        var defect: Defect?
    }

    /// Plays the connection's buffer: what is not consumed is shown again.
    func read(_ bytes: [UInt8], by size: Int, limits: Limits = .request, decoding: Bool) -> Reading {
        var decoder = ChunkedDecoder(fault: .client, limits: limits)
        var reading = Reading()
        var held: [UInt8] = []
        var next = 0
        do throws(HTTPError) {
            while next < bytes.count, !decoder.isEnded {
                let end = min(next + size, bytes.count)
                held += bytes[next..<end]
                next = end
                let consumed =
                    decoding ? try decode(&decoder, held, into: &reading) : try decoder.pass(held.span)
                held.removeFirst(consumed)
                reading.passed += consumed
            }
        } catch {
            reading.defect = error.defect
        }
        reading.isEnded = decoder.isEnded
        return reading
    }

    private func decode(
        _ decoder: inout ChunkedDecoder, _ bytes: [UInt8], into reading: inout Reading
    ) throws(HTTPError) -> Int {
        var offset = 0
        while true {
            switch try decoder.next(bytes.span, from: offset) {
            case .needsMore(let consumed), .end(let consumed): return consumed
            case .data(let range):
                reading.content += String(decoding: bytes[range], as: UTF8.self)
                offset = range.upperBound
            case .trailer(let line):
                reading.trailers.append(String(decoding: bytes[line], as: UTF8.self))
                offset = line.upperBound
            }
        }
    }

    static let accepted: [(text: String, content: String, trailers: [String])] = [
        ("0\n\n", "", []),
        ("5\nhello\n0\n\n", "hello", []),
        ("5\nhello\n6\n world\n0\n\n", "hello world", []),
        ("A;x=y;z\n0123456789\n000\n\n", "0123456789", []),
        ("a;x=\"quoted \t;\"\n01234567\r9\n0;last\n\n", "01234567\r9", []),
        ("0000000000000001\nx\n0\n\n", "x", []),
        ("2\n\r\n\n0\n\n", "\r\n", []),
        ("1\nx\n0\nX-Sum: 7\nServer-Timing:\n\n", "x", ["X-Sum: 7\r\n", "Server-Timing:\r\n"]),
    ]

    @Test(arguments: accepted)
    func `a chunked body is decoded and passed, whole and in pieces, and what follows is left alone`(
        text: String, content: String, trailers: [String]
    ) {
        let body = text == "2\n\r\n\n0\n\n" ? Array("2\r\n\r\n\r\n0\r\n\r\n".utf8) : crlf(text)
        let next = Array("GET / HTTP/1.1\r\n".utf8)
        for size in 1...(body.count + next.count) {
            let decoded = read(body + next, by: size, decoding: true)
            #expect(
                decoded
                    == Reading(content: content, trailers: trailers, passed: body.count, isEnded: true, defect: nil))
            let passed = read(body + next, by: size, decoding: false)
            #expect(passed == Reading(passed: body.count, isEnded: true))
        }
    }

    static let refused: [(text: String, defect: Defect)] = [
        ("0x5\r\nhello\r\n", .malformedChunkSize),
        (" 5\r\nhello\r\n", .malformedChunkSize),
        ("5 \r\nhello\r\n", .malformedChunkSize),
        ("5 ;a\r\nhello\r\n", .malformedChunkSize),
        ("5\t\r\nhello\r\n", .malformedChunkSize),
        ("+5\r\nhello\r\n", .malformedChunkSize),
        ("-5\r\nhello\r\n", .malformedChunkSize),
        ("\r\nhello\r\n", .malformedChunkSize),
        (";a\r\nhello\r\n", .malformedChunkSize),
        ("5h\r\nhello\r\n", .malformedChunkSize),
        ("FFFFFFFFFFFFFFFFF\r\n", .chunkSizeTooLarge),
        ("FFFFFFFFFFFFFFFF\r\n", .chunkSizeTooLarge),
        ("8000000000000000\r\n", .chunkSizeTooLarge),
        ("00000000000000005\r\nhello\r\n", .chunkSizeTooLarge),
        ("5\nhello\r\n0\r\n\r\n", .bareLineFeed),
        ("5;a\nhello\r\n0\r\n\r\n", .bareLineFeed),
        ("5\rhello\r\n0\r\n\r\n", .bareCarriageReturn),
        ("5;a\r\r\nhello\r\n0\r\n\r\n", .bareCarriageReturn),
        ("5;\u{0}\r\nhello\r\n0\r\n\r\n", .controlCharacter),
        ("5\r\nhello\n0\r\n\r\n", .malformedChunkEnd),
        ("5\r\nhello\r0\r\n\r\n", .malformedChunkEnd),
        ("5\r\nhelloX\r\n0\r\n\r\n", .malformedChunkEnd),
        ("0\r\n\n", .bareLineFeed),
        ("0\r\nX: y\n\r\n", .bareLineFeed),
        ("0\r\nX : y\r\n\r\n", .blankBeforeColon),
        ("0\r\n X: y\r\n\r\n", .foldedLine),
        ("0\r\nGET / HTTP/1.1\r\n\r\n", .malformedFieldName),
        ("0\r\nContent-Length: 5\r\n\r\n", .forbiddenTrailer),
        ("0\r\nX: y\r\ntransfer-encoding: chunked\r\n\r\n", .forbiddenTrailer),
        ("0\r\nHost: evil\r\n\r\n", .forbiddenTrailer),
        ("0\r\nAuthorization: Basic x\r\n\r\n", .forbiddenTrailer),
    ]

    @Test(arguments: refused)
    func `a chunked body that two programs could read differently is refused`(text: String, defect: Defect) {
        let bytes = Array(text.utf8)
        for size in 1...bytes.count {
            #expect(read(bytes, by: size, decoding: true).defect == defect)
            #expect(read(bytes, by: size, decoding: false).defect == defect)
        }
    }

    /// Returns the bytes that a decoder of an upstream's body writes for input in pieces of `size`.
    private func rewritten(_ bytes: [UInt8], by size: Int, limits: Limits = .response) -> (Reading, isIrregular: Bool) {
        var decoder = ChunkedDecoder(fault: .upstream, limits: limits)
        var reading = Reading()
        let (held, out) = (ByteBuffer([]), ByteBuffer([]))
        do throws(HTTPError) {
            var next = 0
            while next < bytes.count, !decoder.isEnded {
                let end = min(next + size, bytes.count)
                held.append(Array(bytes[next..<end]))
                next = end
                let consumed = try decoder.pass(held.readable, to: out)
                held.consume(consumed)
                reading.passed += consumed
            }
        } catch { reading.defect = error.defect }
        reading.content = out.readable.text
        reading.isEnded = decoder.isEnded
        return (reading, decoder.isIrregular)
    }

    static let mended: [(raw: String, clean: String)] = [
        ("5 \r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        ("5\r\nhello\r\n0 \t \r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        ("1A \t;a=b\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n", "1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n"),
        ("5;x\r\nhello\r\n1 \r\n!\r\n0;y\r\n\r\n", "5;x\r\nhello\r\n1\r\n!\r\n0;y\r\n\r\n"),
        ("5\nhello\n1\n!\n0\n\n", "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"),
        ("5\r\nhello\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        ("0\r\n\n", "0\r\n\r\n"),
        ("0\r\nX : y\r\nZ:1\n\r\n", "0\r\nX: y\r\nZ: 1\r\n\r\n"),
        ("0\r\nA: 1\r\nX: y\r\n z\r\n\tz\nB: 2\r\n\r\n", "0\r\nA: 1\r\nB: 2\r\n\r\n"),
        ("0\r\nX: y\r\n \r\n\r\n", "0\r\n\r\n"),
    ]

    @Test(arguments: mended)
    func `chunks of an old server are written as they should be, whole and in pieces`(raw: String, clean: String) {
        let bytes = Array(raw.utf8)
        for size in 1...bytes.count + 4 {
            let (reading, isIrregular) = rewritten(bytes + Array("HTTP".utf8), by: size)
            #expect(reading == Reading(content: clean, passed: bytes.count, isEnded: true))
            #expect(isIrregular)
            let again = read(Array(clean.utf8), by: size, decoding: true)
            #expect(again.isEnded && again.defect == nil, "what we wrote is refused")
        }
    }

    @Test(arguments: accepted)
    func `chunks of a server that keeps to the RFC pass as they are`(
        text: String, content: String, trailers: [String]
    ) {
        let body = text == "2\n\r\n\n0\n\n" ? Array("2\r\n\r\n\r\n0\r\n\r\n".utf8) : crlf(text)
        for size in 1...(body.count + 3) {
            let (reading, isIrregular) = rewritten(body + Array("\n 5".utf8), by: size)
            #expect(
                reading
                    == Reading(content: String(decoding: body, as: UTF8.self), passed: body.count, isEnded: true))
            #expect(!isIrregular)
        }
    }

    static let badOfOldServers: [(text: String, defect: Defect)] = [
        (" 5\r\nhello\r\n", .malformedChunkSize), ("5 5\r\nhello\r\n", .malformedChunkSize),
        ("\nhello\n", .malformedChunkSize), ("5;a\nhello\r\n0\r\n\r\n", .bareLineFeed),
        ("5\rhello\r\n", .bareCarriageReturn), ("5\r\nhelloX\n", .malformedChunkEnd),
        ("5\r\nhello\rX", .malformedChunkEnd), ("0\n X: y\n\n", .foldedLine), ("0\nX\n\n", .missingColon),
        ("0\nContent-Length : 5\n\n", .forbiddenTrailer), ("0\r\nHost: evil\r\n folded\r\n\r\n", .forbiddenTrailer),
        ("0\nGET / HTTP/1.1\n\n", .malformedFieldName), ("FFFFFFFFFFFFFFFFF \n", .chunkSizeTooLarge),
    ]

    @Test(arguments: badOfOldServers)
    func `chunks that cannot be read one way are refused of old servers, too`(text: String, defect: Defect) {
        let bytes = Array(text.utf8)
        for size in 1...bytes.count { #expect(rewritten(bytes, by: size).0.defect == defect, "by \(size)") }
    }

    @Test func `trailers of old servers are bounded, however they arrive`() {
        let limits = Limits(trailers: 20, trailerFields: 2, chunkExtension: 4)
        let cases: [(String, Defect?)] = [
            ("0\nA: 1\nB: 2\n\n", nil), ("0\nA: 1\n 2\n 3\n\n", .tooManyFields(limit: 2)),
            ("0\nA: 1\n " + String(repeating: "a", count: 40), .trailersTooLarge(limit: 20)),
            ("1 " + String(repeating: " ", count: 40), .chunkExtensionTooLong(limit: 4)),
        ]
        for (text, defect) in cases {
            for size in [1, 2, 7, 100] {
                #expect(rewritten(Array(text.utf8), by: size, limits: limits).0.defect == defect, "\(text) by \(size)")
            }
        }
    }

    @Test func `a chunk of the largest size is passed over by arithmetic`() throws {
        var decoder = ChunkedDecoder(fault: .upstream, limits: .response)
        let head = Array("7FFFFFFFFFFFFFFF\r\nabc".utf8)
        #expect(try decoder.pass(head.span) == head.count)
        #expect(try decoder.pass(head.span) == head.count)
        #expect(!decoder.isEnded)
    }

    @Test func `extensions and trailers are bounded, however they arrive`() {
        let limits = Limits(trailers: 20, trailerFields: 2, chunkExtension: 4)
        let cases: [(String, Defect?)] = [
            ("1;abc\nx\n0\n\n", nil),
            ("1;abcd\nx\n0\n\n", .chunkExtensionTooLong(limit: 4)),
            ("1;" + String(repeating: "a", count: 40), .chunkExtensionTooLong(limit: 4)),
            ("0\nA: 1\nB: 2\n\n", nil),
            ("0\nA: 1\nB: 2\nC: 3\n\n", .tooManyFields(limit: 2)),
            ("0\nA: 345678901234\n\n", nil),
            ("0\nA: 3456789012345678\n\n", .trailersTooLarge(limit: 20)),
            ("0\nA: " + String(repeating: "a", count: 40), .trailersTooLarge(limit: 20)),
        ]
        for (text, defect) in cases {
            for size in [1, 2, 7, 100] {
                let reading = read(crlf(text), by: size, limits: limits, decoding: false)
                #expect(reading.defect == defect, "\(text) by \(size)")
            }
        }
    }

    @Test func `a failed decoder stays failed, and says whose body it was`() {
        var decoder = ChunkedDecoder(fault: .upstream, limits: .response)
        let bad = Array("x\r\n".utf8)
        let good = Array("0\r\n\r\n".utf8)
        #expect(throws: HTTPError(.upstream, .malformedChunkSize)) { try decoder.pass(bad.span) }
        #expect(throws: HTTPError(.upstream, .malformedChunkSize)) { try decoder.pass(good.span) }
    }

    @Test func `the decoder reads the encoder's chunks`() {
        let buffer = ByteBuffer(capacity: 64)
        let pieces = ["a", String(repeating: "b", count: 300), "", "\r\n0\r\n\r\n"]
        for piece in pieces { ChunkedEncoder.append(Array(piece.utf8).span, to: buffer) }
        ChunkedEncoder.appendEnd(to: buffer)
        let bytes = buffer.readable.array
        for size in [1, 3, 64, bytes.count] {
            let reading = read(bytes, by: size, decoding: true)
            #expect(reading.content == pieces.joined())
            #expect(reading.isEnded)
        }
    }
}
