import Bytes
import Testing

@testable import HTTP

struct AuthorityTests {
    /// Text, and what follows it in the buffer.
    @Test(arguments: [
        ("127.1", "2"), ("127.1", "a"), ("a.0x7f", "f"), ("a.0x7f", "g"), ("7", "7"), ("127.0.0.1.", "1"),
        ("a.1", ""), ("a.0x1", ""),
    ])
    func `a name that ends in a number is refused, whatever follows it`(text: String, rest: String) {
        let bytes = Array((text + rest).utf8)
        #expect(throws: Defect.malformedHost) { try Authority(bytes.span, in: 0..<text.utf8.count) }
    }

    @Test(arguments: [
        ("a.1b", "2", Authority.HostForm.name), ("a.0x1g", "1", .name), ("127.0.0.1", "1", .ipv4), ("a", "1", .name),
        ("a.b", ":80", .name),
    ])
    func `what follows is no part of a host`(text: String, rest: String, form: Authority.HostForm) throws {
        let bytes = Array((text + rest).utf8)
        let authority = try Authority(bytes.span, in: 0..<text.utf8.count)
        #expect(authority.form == form)
        #expect(authority.host == 0..<text.utf8.count)
        #expect(authority.explicitPort == nil)
    }
}
