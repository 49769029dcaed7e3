import Bytes
import Testing

@Suite struct FieldLinesTests {
    private static let names = FieldLines.NameTable([
        "via", "content-type", "proxy-connection", "transfer-encoding", "host",
    ])

    private struct Result {
        let lines: [FieldLines.Line]
        let next: Int
        let present: UInt64
        let repeated: UInt64
    }

    private func read(_ bytes: [UInt8], limit: Int = .max, most: Int = 100) -> Result {
        var lines = FieldLines(most: most)
        let next = lines.read(bytes.span, from: 0, limit: limit, recognising: Self.names)
        var copy: [FieldLines.Line] = []
        for index in 0..<lines.count { copy.append(lines[index]) }
        return Result(lines: copy, next: next, present: lines.present, repeated: lines.repeated)
    }

    /// Reads `text`, with that many carriage returns behind it.
    private func read(_ text: String, tail: Int = 0, limit: Int = .max, most: Int = 100) -> Result {
        read(Array(text.utf8) + [UInt8](repeating: .carriageReturn, count: tail), limit: limit, most: most)
    }

    @Test(arguments: [
        ("A: b\r\n", "A", "b"), ("A:b\r\n", "A", "b"), ("A:\r\n", "A", ""), ("A: \t \r\n", "A", ""),
        ("A_1:  b c\t\r\n", "A_1", "b c"), ("Content-Disposition-Of: b\r\n", "Content-Disposition-Of", "b"),
        ("A: \u{e9}\tb:c, 0123456789\u{2713} \r\n", "A", "\u{e9}\tb:c, 0123456789\u{2713}"),
        ("Fifteen-Letters: b\r\n", "Fifteen-Letters", "b"), ("Sixteen--Letters: b\r\n", "Sixteen--Letters", "b"),
        ("Seventeen-Letters: b\r\n", "Seventeen-Letters", "b"),
    ])
    func `a field line is taken apart`(text: String, name: String, value: String) throws {
        let bytes = Array(text.utf8)
        for tail in [0, 2, 16, 40] {
            let result = read(text, tail: tail)
            let line = try #require(result.lines.first)
            #expect(String(decoding: bytes[line.name], as: UTF8.self) == name)
            #expect(String(decoding: bytes[line.value], as: UTF8.self) == value)
            #expect(line.line == 0..<bytes.count)
            #expect(result.lines.count == 1 && result.next == bytes.count)
        }
    }

    @Test(arguments: [
        "", "A", "A:", "A: b", "A: b\r", "A: b\n", "A: b\rc\r\n", ": b\r\n", "A : b\r\n", "A\r\n", " A: b\r\n", "\r\n",
        "A: \u{0}\r\n", "A: b\u{7f}\r\n", "A\u{e9}: b\r\n", "A: 0123456789abcdef\u{1}\r\n", "A(: b\r\n",
    ])
    func `anything else is no field line`(text: String) {
        for tail in [0, 16, 40] {
            let result = read(text, tail: tail)
            #expect(result.lines.isEmpty && result.next == 0)
        }
    }

    @Test func `each byte is taken or refused in a name and in a value, wherever it stands`() {
        for byte in UInt8.min...UInt8.max {
            for place in [0, 7, 14, 15, 16, 17, 30] {
                let plain = [UInt8](repeating: UInt8(ascii: "a"), count: 31)
                var odd = plain
                odd[place] = byte
                for tail in [0, 20] {
                    let rest = [13, 10] + [UInt8](repeating: .lineFeed, count: tail)
                    let named = read(odd + [.colon] + plain + rest, most: 1)
                    #expect(named.lines.isEmpty != (byte.isTokenByte || byte == .colon && place > 0), "\(byte)")
                    let valued = read(plain + [.colon] + odd + rest, most: 1)
                    #expect(valued.lines.isEmpty != (byte >= 0x20 && byte != 0x7F || byte == .tab), "\(byte)")
                }
            }
        }
    }

    @Test func `lines are read up to the first that is none, the limit, or the most there may be`() {
        let text = "A: 1\r\nB: 2\r\nC: 3\r\n\r\nD: 4\r\n"
        let whole = read(text)
        #expect(whole.lines.count == 3 && whole.next == 18)
        let limited = read(text, limit: 12)
        #expect(limited.lines.count == 2 && limited.next == 12)
        let most = read(text, most: 1)
        #expect(most.lines.count == 1 && most.next == 6)
        let many = read(String(repeating: "A: 1\r\n", count: 100), most: 77)
        #expect(many.lines.count == 77 && many.next == 77 * 6)
        #expect(many.lines[76].line == 76 * 6..<77 * 6)
    }

    @Test func `names are recognised in any case, and what only resembles one is not`() {
        let known = "Via: 1\r\nCONTENT-type: 1\r\nProxy-Connection: 1\r\nTransfer-Encoding: 1\r\nhost: 1\r\nVIA: 1\r\n"
        let other =
            "Vib: 1\r\nContent_Type: 1\r\nProxy-Connection-: 1\r\nTransfer-Encodinh: 1\r\nTost: 1\r\nh0st: 1\r\n"
        for tail in [0, 40] {
            let lines = read(known, tail: tail)
            #expect(lines.lines.map(\.ordinal) == [1, 2, 3, 4, 5, 1])
            #expect(lines.present == 0b111110 && lines.repeated == 0b10)
            let others = read(other, tail: tail)
            #expect(others.lines.map(\.ordinal) == [0, 0, 0, 0, 0, 0])
            #expect(others.present == 0 && others.repeated == 0)
        }
    }

    @Test func `lines that come again are known wherever they stand, until others are read or one is marked`() {
        let text = "Host: 1\r\nX: \(String(repeating: "y", count: 40))\r\nVia: 2\r\n\r\n"
        let (bytes, shifted) = (Array(text.utf8), Array("GET / HTTP/1.1\r\n\(text)".utf8))
        var lines = FieldLines(most: 9)
        func again(_ bytes: [UInt8], from start: Int, limit: Int = .max) -> Int? {
            lines.removeAll()
            return lines.recall(bytes.span, from: start, limit: limit)
        }
        #expect(again(bytes, from: 0) == nil, "nothing was there")
        let end = lines.read(bytes.span, from: 0, limit: .max, recognising: Self.names)
        lines.remember(bytes.span, in: 0..<end + 2)

        #expect(again(shifted, from: 16) == shifted.count)
        #expect(lines.count == 3 && lines.present == 0b100010)
        #expect(lines[2].name == 16 + end - 8..<16 + end - 5 && lines[2].value == 16 + end - 3..<16 + end - 2)
        #expect(lines[0].line.lowerBound == 16 && lines[2].line.upperBound == 16 + end)
        #expect(again(bytes, from: 0) == bytes.count)
        #expect(lines[0].line == 0..<9)

        #expect(again(bytes, from: 0, limit: bytes.count - 1) == nil)
        #expect(again(Array(bytes.dropLast()), from: 0) == nil)
        #expect(again(shifted, from: 15) == nil)
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 1
            #expect(again(other, from: 0) == nil)
        }
        #expect(again(bytes, from: 0) == bytes.count)
        lines.mark(1)
        #expect(again(bytes, from: 0) == nil)
        _ = lines.read(bytes.span, from: 0, limit: .max, recognising: Self.names)
        lines.remember(bytes.span, in: 0..<end + 2)
        lines.removeAll()
        _ = lines.read(Array("A: b\r\n".utf8).span, from: 0, limit: .max, recognising: Self.names)
        #expect(again(bytes, from: 0) == nil)
    }

    @Test func `a line is found by its name or its mark`() {
        var lines = FieldLines(most: 9)
        let bytes = Array("A: 1\r\nHost: 1\r\nB: 1\r\nHost: 1\r\n".utf8)
        _ = lines.read(bytes.span, from: 0, limit: bytes.count, recognising: Self.names)
        lines.mark(2)
        let found = [
            lines.firstIndex(from: 0, of: 1 << 5), lines.firstIndex(from: 2, of: 1 << 5),
            lines.firstIndex(from: 0, of: 1 << 4), lines.firstIndex(from: 0, markedOr: 0),
            lines.firstIndex(from: 0, markedOr: 1 << 5), lines.firstIndex(from: 3, markedOr: 0),
        ]
        #expect(found == [1, 3, 4, 2, 1, 4])
    }
}
