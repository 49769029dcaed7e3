import Bytes
import Testing

@testable import HTTP

@Suite struct EchoedParametersTests {
    private static let echoed = EchoedParameters([
        .init(name: Array("key".utf8), value: Array("a +/%c".utf8)),
        .init(name: Array("id".utf8), value: [0xC3, 0xA9]),
    ])

    private func cleared(_ head: String) -> String {
        let buffer = ByteBuffer(capacity: 64)
        Self.echoed.append(head.utf8Span.span, to: buffer)
        return buffer.readable.text
    }

    @Test(arguments: [
        ("/x?key=a%20%2B%2F%25c", "/x"), ("/x?key=a+%2b/%25c&b=1", "/x?b=1"), ("/x?b=1&key=a%20+/%25c#f", "/x?b=1#f"),
        ("<http://h/?key=a%20%2B%2F%25c>; rel=next", "<http://h/>; rel=next"), ("/?id=%C3%A9&id=%c3%a9", "/"),
        ("/?key=a%20%2B%2F%25c&id=%C3%A9&z", "/?z"), ("url='/?id=%C3%A9'", "url='/'"), ("/?id=\u{E9}", "/"),
        // In a URL within another.
        ("/in?to=%2Fx%3Fkey%3Da%2520%252B%252F%2525c%26b%3D1", "/in?to=%2Fx%3Fb%3D1"),
        ("/in?to=%2Fx%3fid%3d%25C3%25A9&z", "/in?to=%2Fx&z"), ("/in?to=%3Fb%26id%3D%25c3%25a9", "/in?to=%3Fb"),
    ])
    func `a parameter is taken out of every URL, however it is encoded`(head: String, expected: String) {
        #expect(cleared(head) == expected)
    }

    @Test(arguments: [
        "/x?key=b", "/x?key=a%20%2B%2F%25cd", "/x?Key=a%20%2B%2F%25c", "/x?akey=a%20%2B%2F%25c", "key=a%20%2B%2F%25c",
        "Set-Cookie: s=1;id=%C3%A9", "/?key=", "/?key", "/?key=a%2", "/?key=%", "?", "&", "%3F", "%3Fkey%3D", "",
        "HTTP/1.1 200 OK\r\nLink: <?>\r\n\r\n",
    ])
    func `other parameters, and the same of other values, stay`(head: String) {
        #expect(cleared(head) == head)
    }
}
