import Bytes
import Testing

@Suite struct ByteBufferTests {
    @Test func `bytes come out in the order they went in, across growth and moves`() {
        let buffer = ByteBuffer(capacity: 64)
        var expected: [UInt8] = []
        for round in 0..<200 {
            let piece = [UInt8](repeating: UInt8(round), count: round % 37)
            buffer.append(piece)
            expected += piece
            let taken = min(buffer.count, round % 29)
            buffer.consume(taken)
            expected.removeFirst(taken)
            #expect(buffer.readable.array == expected)
        }
    }

    @Test(arguments: [0, 3, 10], [0, 3, 5, 200])
    func `the front is replaced by something shorter or longer, and what is behind it stays`(front: Int, by size: Int) {
        let buffer = ByteBuffer(capacity: 64)
        buffer.append("ab" as StaticString)
        buffer.append("0123456789" as StaticString)
        buffer.consume(2)
        let replacement = [UInt8](repeating: 0x78, count: size)
        buffer.replaceFirst(front, with: replacement.span)
        #expect(buffer.readable.array == replacement + Array("0123456789".utf8.dropFirst(front)))
    }

    @Test(arguments: [(0, "0"), (7, "7"), (10, "10"), (65_535, "65535"), (Int.max, "9223372036854775807")])
    func `numbers are written in decimal`(number: Int, text: String) {
        let buffer = ByteBuffer(capacity: 64)
        buffer.append(decimal: number)
        #expect(buffer.readable.text == text)
    }

    @Test func `numbers are written in hexadecimal with leading zeros`() {
        let buffer = ByteBuffer(capacity: 64)
        buffer.append(hexadecimal: 26, digits: 8)
        buffer.append("/" as StaticString)
        buffer.append(hexadecimal: 0)
        #expect(buffer.readable.text == "0000001a/0")
    }

    @Test func `search stays inside its range`() {
        let bytes = Array("a:b:c".utf8)
        #expect(bytes.span.firstIndex(of: .colon) == 1)
        #expect(bytes.span.firstIndex(of: .colon, from: 2) == 3)
        #expect(bytes.span.firstIndex(of: .colon, in: 2..<3) == nil)
        #expect(bytes.span.firstIndex(of: .colon, from: 9) == nil)
        #expect([UInt8]().span.firstIndex(of: .colon) == nil)
    }
}
