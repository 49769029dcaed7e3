import Bytes
import HTTP
import Testing

@testable import Upstream

struct BodyProgressTests {
    private static func taken(_ framing: BodyFraming, _ pieces: [String]) throws -> ([Int], isEnded: Bool) {
        var progress = BodyProgress(framing, of: .upstream, limits: .response)
        let counts = try pieces.map { piece in
            let bytes = Array(piece.utf8)
            return try progress.take(bytes.span)
        }
        return (counts, progress.isEnded)
    }

    @Test func `a body without bytes is over before it begins`() throws {
        for framing in [BodyFraming.none, .length(0)] {
            #expect(try Self.taken(framing, ["next message"]) == ([0], true))
        }
    }

    @Test func `bytes behind the length are not taken`() throws {
        #expect(try Self.taken(.length(5), ["ab"]) == ([2], false))
        #expect(try Self.taken(.length(5), ["ab", "cdefg", "h"]) == ([2, 3, 0], true))
    }

    @Test func `chunks are taken as they stand, and what is behind the last is not`() throws {
        #expect(try Self.taken(.chunked, ["3\r\nabc\r\n0\r\n\r\nHTTP/1.1"]) == ([13], true))
        #expect(try Self.taken(.chunked, ["3\r\nab", "c\r\n0\r\nA: b\r\n\r\n"]) == ([5, 14], true))
    }

    @Test func `half a size line is left for its other half`() throws {
        #expect(try Self.taken(.chunked, ["3\r\nabc\r\n1"]) == ([8], false))
    }

    @Test func `bytes that went past count`() {
        var progress = BodyProgress(.length(10), of: .client, limits: .request)
        progress.skip(4)
        #expect(progress.remainingLength == 6)
        progress.skip(6)
        #expect(progress.isEnded)
        #expect(progress.remainingLength == nil)
    }

    @Test func `a body that is no chunk is the sender's fault`() {
        for fault in [HTTPError.Fault.client, .upstream] {
            var progress = BodyProgress(.chunked, of: fault, limits: .request)
            let bytes = Array("zz\r\n".utf8)
            do throws(HTTPError) {
                _ = try progress.take(bytes.span)
                Issue.record("taken")
            } catch { #expect(error.fault == fault) }
        }
    }
}
