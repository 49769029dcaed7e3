import HTTP
import Testing

@Suite struct ViaTests {
    @Test(arguments: [
        ("Via: 1.1 attache", true), ("Via: HTTP/1.1 ATTACHE", true), ("Via: 1.0 fred, 1.1 attache", true),
        ("Via: 1.0 fred\nVia: 1.1 attache (x)", true), ("Via: 1.0 fred (a, 1.1 b), 1.1 \t attache", true),
        ("Via: 1.1 attache(c)", true), ("Via: , ,1.1 attache,", true), ("Via: 1.0 f (\\),), 1.1 attache", true),
        ("Via: 1.1 attache2", false), ("Via: 1.1 attache:80", false), ("Via: 1.0 fred (1.1 attache)", false),
        ("Via: 1.0 fred (a, 1.1 attache)", false), ("Via: attache 1.1", false), ("Via: 1.1 fred attache", false),
        ("Via: 1.0 fred (a (b), 1.1 attache", false), ("X: 1.1 attache", false), ("Via:", false),
        ("Via: attache", false), ("Via: 1.0 f (\\", false),
    ])
    func `our name is found where an element names who received it, and nowhere else`(lines: String, found: Bool) {
        let bytes = crlf("GET / HTTP/1.0\n\(lines)\n\n")
        let head = RequestHead()
        #expect(head.outcome(bytes) == .complete(length: bytes.count))
        #expect(Via.test.occurs(in: head.fields, of: bytes.span) == found)
    }

    @Test(arguments: ["", "a b", "a\r\nX: y", "ä", "a,b", "(a)"])
    func `a pseudonym that is no token is refused`(name: String) {
        #expect(Via(pseudonym: name) == nil)
    }
}
