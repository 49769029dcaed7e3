import Bytes
import Testing

/// The searches look at sixteen or eight bytes at a time; here each is held against its definition, at every length and start
/// around a block's border.
@Suite struct ScanTests {
    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }
    private static func isOutsideTarget(_ byte: UInt8) -> Bool { byte <= 0x20 || byte >= 0x7F || byte == 0x23 }
    private static func isHost(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    private func check(_ bytes: [UInt8]) {
        let count = bytes.count
        for start in 0...min(count, 18) {
            let rest = start..<count
            #expect(bytes.span.firstControl(from: start) == rest.first { Self.isControl(bytes[$0]) } ?? count)
            #expect(bytes.span.endOfToken(in: rest) == rest.first { !bytes[$0].isTokenByte } ?? count)
            let lowercase = rest.first { !bytes[$0].isTokenByte || bytes[$0].asciiLowercased != bytes[$0] }
            #expect(bytes.span.endOfLowercaseToken(in: rest) == lowercase ?? count)
            #expect(bytes.span.firstOutsideTarget(in: rest) == rest.first { Self.isOutsideTarget(bytes[$0]) } ?? count)
            #expect(bytes.span.endOfHostName(in: rest) == rest.first { !Self.isHost(bytes[$0]) } ?? count)
        }
    }

    @Test func `each byte is found, or passed over, wherever it stands`() {
        for byte in UInt8.min...UInt8.max {
            for count in [1, 7, 8, 9, 13, 15, 16, 17, 33] {
                for place in Set([0, count / 2, count - 1]) {
                    var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                    bytes[place] = byte
                    check(bytes)
                }
            }
        }
        check([])
    }

    @Test(arguments: ["x", "ta", "attach", "ttacheatt"])
    func `the mark of a placeholder is found wherever it stands, and nowhere else`(filler: String) {
        let mark = Array(Span<UInt8>.placeholderMark.utf8)
        let whole = Array(String(repeating: filler, count: 120).utf8)
        for count in Array(0...20) + [30, 31, 32, 33, 34, 35, 36, 63, 64, 65, 66, 67, 68, 69, 100] {
            let bytes = Array(whole.prefix(count))
            #expect(bytes.span.firstPlaceholderMark(in: 0..<count) == nil)
            for place in 0..<max(0, count - mark.count + 1) {
                var bytes = bytes
                bytes.replaceSubrange(place..<place + mark.count, with: mark)
                let found = { (range: Range<Int>) in bytes.span.firstPlaceholderMark(in: range) }
                #expect(found(0..<count) == place)
                #expect(found(place..<place + mark.count) == place)
                #expect(found(min(place + 1, count)..<count) == nil)
                #expect(found(0..<place + mark.count - 1) == nil)
            }
        }
    }

    @Test func `bytes before the start or behind the end of a range are not found`() {
        let bytes = Array("\u{1}\u{1}\u{1}aaaaaaaaaaaaaaaaa\u{1}".utf8)
        #expect(bytes.span.endOfToken(in: 3..<20) == 20)
        #expect(bytes.span.endOfToken(in: 5..<20) == 20)
        #expect(bytes.span.endOfToken(in: 3..<3) == 3)
        #expect(bytes.span.firstOutsideTarget(in: 10..<19) == 19)
        #expect(bytes.span.endOfHostName(in: 19..<21) == 20)
    }

    @Test(arguments: [
        ("a*c", "a.b.c", true, false), ("a*c", "abc", true, true), ("a*.c", "ab.c", true, true), ("*", "", true, true),
        ("a*b*c", "axbxbxc", true, true), ("a**c", "abc", true, true), ("ab", "abc", false, false),
        ("a*.*c", "ab.dc", true, true), ("*a", "b.a", true, false), ("a*b", "acb.b", true, false),
        ("ab*", "AbX", false, true),
    ])
    func `a star of a pattern matches any bytes, or those of its part`(
        pattern: String, text: String, matches: Bool, matchesWithin: Bool
    ) {
        let (bytes, pattern) = (text.utf8Span.span, pattern.utf8Span.span)
        #expect(bytes.matches(pattern: pattern) == matches)
        #expect(bytes.matches(pattern: pattern, within: UInt8(ascii: "."), ignoringCase: true) == matchesWithin)
    }

    @Test(arguments: [
        ("1.2.3.4", 7), ("0.0.0.0", 7), ("255.249.199.99", 14), ("1.2.3.4:80", 7), ("1.2.3.4.5", 7), ("1.2.3.4a", 7),
        ("1.2.3", nil), ("1.2.3.", nil), ("", nil), ("1", nil), ("256.2.3.4", nil), ("1.2.3.256", nil),
        ("01.2.3.4", nil), ("1.2.3.04", nil), ("1.2.3.00", nil), ("1..3.4", nil), (".1.2.3", nil), ("a.2.3.4", nil),
        ("1.2.3.99999999999999999999", nil), ("1:2.3.4", nil),
    ])
    func `a dotted quad is four numbers below 256 without leading zeros`(text: String, end: Int?) {
        let bytes = Array((text + "9").utf8)
        let found = bytes.span.endOfDottedQuad(in: 0..<text.utf8.count)
        #expect(found == end)
    }
}
