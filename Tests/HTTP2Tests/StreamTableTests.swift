import Testing

@testable import HTTP2

struct StreamTableTests {
    @Test func `each stream is found by its number until it is removed`() throws {
        let connection = try ServerConnection(.init(form: .absolute))
        var table = StreamTable()
        var expected: [Int32: RequestStream] = [:]
        var (next, state) = (Int32(1), UInt32(32))
        for _ in 0..<2000 {
            state = state &* 1_664_525 &+ 1_013_904_223
            if state >> 24 < 128, expected.count < 100 {
                let stream = RequestStream(of: connection)
                stream.begin(next)
                table.insert(stream)
                expected[next] = stream
                // Streams that are refused leave gaps.
                next += state >> 16 & 3 == 0 ? 34 : 2
            } else if let id = expected.keys.sorted().dropFirst(Int(state >> 16) % max(1, expected.count)).first {
                #expect(table.remove(id) === expected.removeValue(forKey: id))
                #expect(table.remove(id) == nil)
            }
            #expect(table.count == expected.count)
            #expect(expected.allSatisfy { table[$0.key] === $0.value })
            #expect(table[next] == nil)
        }
        #expect(Set(table.all.map(\.id)) == Set(expected.keys))
        table.removeAll()
        #expect(table.isEmpty && table[1] == nil)
    }
}
