import Testing

@testable import HTTP

struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-0", ByteRange.part(0..<1)), ("bytes=5-", .part(5..<10)), ("bytes=-3", .part(7..<10)),
        ("BYTES=2-99", .part(2..<10)), ("bytes=-99", .part(0..<10)), ("bytes=10-", .none), ("bytes=10-12", .none),
        ("bytes=-0", .none), ("bytes=3-2", .whole), ("bytes=1-2,4-5", .whole), ("lines=1-2", .whole),
        ("bytes=+1-2", .whole), ("bytes=-", .whole), ("bytes", .whole),
        ("bytes=99999999999999999999-", .whole), ("bytes=0-99999999999999999999", .whole),
        ("bytes=9223372036854775807-", .none), ("bytes=0-9223372036854775807", .part(0..<10)),
    ])
    func `of ten bytes a field wants some, all or none`(field: String, range: ByteRange) {
        #expect(ByteRange(field, of: 10) == range)
    }

    @Test func `of nothing there is no part`() {
        #expect(ByteRange("bytes=0-", of: 0) == .none)
        #expect(ByteRange("bytes=-1", of: 0) == .none)
    }
}
