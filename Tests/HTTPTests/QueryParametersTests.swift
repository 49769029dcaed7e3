import Bytes
import Testing

@testable import HTTP

@Suite struct QueryParametersTests {
    private func written(_ write: (ByteBuffer) -> Void) -> String {
        let buffer = ByteBuffer(capacity: 64)
        write(buffer)
        return buffer.readable.text
    }

    @Test(arguments: [
        ("/", false), ("/key=1", false), ("/?key=1", true), ("/?key", true), ("/?a=1&key=", true), ("/?k%65y=1", true),
        ("/?Key=1", false), ("/?akey=1", false), ("/?keys=1", false), ("/?a=key", false), ("/?", false),
        ("/?&&", false),
        ("/?a=1?key=2", false), ("/?%=1&key=2", true), ("?key=1", true), ("", false),
    ])
    func `a parameter is found by its name`(target: String, isThere: Bool) {
        let isFound = QueryParameters.contain("key".utf8Span.span, in: target.utf8Span.span)
        #expect(isFound == isThere)
    }

    @Test(arguments: [
        ("/", "/"), ("/?key=1", "/"), ("/?a=1&key=2&b", "/?a=1&b"), ("/?key=1&a", "/?a"), ("/?a&key=1", "/?a"),
        ("/?key=1&k%65y=2", "/"), ("/?", "/?"), ("/?&", "/?&"), ("/?a=1&other=2", "/?a=1"), ("/key=1?a", "/key=1?a"),
    ])
    func `parameters are left out by their names`(target: String, expected: String) {
        let names = ["key", "other"].map { Array($0.utf8) }
        let text = written { QueryParameters.append(target.utf8Span.span, without: names, to: $0) }
        #expect(text == expected)
        for name in names {
            let isThere = QueryParameters.contain(name.span, in: text.utf8Span.span)
            #expect(!isThere)
        }
    }

    @Test(arguments: [
        ("/", "/"), ("/?key=1", "/?key=***"), ("/?a=1&key=2&b", "/?a=1&key=***&b"),
        ("/?key&k%65y=2", "/?key=***&key=***"),
        ("/?", "/?"), ("/?a&", "/?a&"),
    ])
    func `values are hidden by their names`(target: String, expected: String) {
        let text = written { QueryParameters.append(target.utf8Span.span, hiding: "key".utf8Span.span, to: $0) }
        #expect(text == expected)
    }
}
