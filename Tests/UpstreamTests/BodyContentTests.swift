import Bytes
import HTTP
import Testing

@testable import Upstream

struct BodyContentTests {
    /// The content that the pieces hold, each shown again from where it was not done with.
    private static func content(_ framing: BodyFraming, _ pieces: [String]) throws -> (String, rest: String) {
        var body = BodyContent(framing, limits: .response)
        var (content, rest): ([UInt8], [UInt8]) = ([], [])
        for piece in pieces {
            rest += Array(piece.utf8)
            let consumed = try body.visit(rest.span) { content += $0.array }.consumed
            rest.removeFirst(consumed)
        }
        return (String(decoding: content, as: UTF8.self), String(decoding: rest, as: UTF8.self))
    }

    @Test func `a length is counted`() throws {
        #expect(try Self.content(.length(5), ["ab", "cdeHTTP"]) == ("abcde", "HTTP"))
        #expect(try Self.content(.none, ["HTTP"]) == ("", "HTTP"))
    }

    @Test(arguments: 1...40)
    func `chunks are undone, cut anywhere`(size: Int) throws {
        let body = "3;name=value\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
        let bytes = Array(body)
        let pieces = stride(from: 0, to: bytes.count, by: size).map { String(bytes[$0..<min($0 + size, bytes.count)]) }
        #expect(try Self.content(.chunked, pieces) == ("abc0123456789", ""))
    }

    @Test func `all there is belongs to a body until the end`() throws {
        #expect(try Self.content(.untilClose, ["ab", "HTTP"]) == ("abHTTP", ""))
        #expect(BodyContent(.untilClose, limits: .response).endsWithConnection)
        #expect(!BodyContent(.chunked, limits: .response).endsWithConnection)
    }
}
