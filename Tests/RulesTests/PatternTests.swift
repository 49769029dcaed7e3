import Bytes
import Rules
import Testing

@Suite struct PatternTests {
    @Test(arguments: [
        ("*", "anything.example", true), ("*", "::1", true),
        ("ci.example.com", "ci.example.com", true), ("ci.example.com", "CI.Example.COM", true),
        ("CI.example.com", "ci.example.com", true), ("ci.example.com", "ci.example.com.", true),
        ("ci.example.com", "xci.example.com", false), ("ci.example.com", "ci.example.co", false),
        ("*.example.com", "a.example.com", true), ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "A.EXAMPLE.com.", true), ("*.example.com", "example.com", false),
        ("*.example.com", ".example.com", false), ("*.example.com", "badexample.com", false),
        ("ci-*.example.com", "ci-1.example.com", true), ("ci-*.example.com", "ci-.example.com", true),
        ("ci-*.example.com", "ci-a.b.example.com", false), ("ci-*.example.com", "x.ci-1.example.com", false),
        ("*.ci-*.example.com", "a.ci-1.example.com", true), ("*.ci-*.example.com", "a.b.ci-1.example.com", true),
        ("*.ci-*.example.com", "ci-1.example.com", false), ("a*b*c.example", "aXbYbZc.example", true),
        ("a*b*c.example", "aXbY.c.example", false), ("a.*.example", "a.b.example", true),
        ("a.*.example", "a.b.c.example", false), ("*a.example", "aaa.example", true),
        ("10.0.0.7", "10.0.0.7", true), ("10.0.0.7", "[::ffff:10.0.0.7]", true), ("10.0.0.7", "10.0.0.70", false),
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("10.0.0.0/8", "10.example.com", false), ("10.0.0.0/8", "010.0.0.1", false),
        ("10.0.0.0/8", "10.0.0.256", false),
        ("10.0.0.0/8", "10.0.0", false), ("10.0.0.0/8", "10.0.0.1.1", false),
        ("ci.example.com.", "ci.example.com", true), ("*.example.com.", "a.example.com", true), ("a.", "a", true),
        ("[0:0::1]", "::1", true), ("0:0::1", "[0:0:0:0:0:0:0:1]", true), ("::ffff:10.0.0.7", "10.0.0.7", true),
        ("10.0.0.7.", "10.0.0.7", true), ("[0:0::1]", "::2", false),
        ("::1", "[::1]", true), ("[::1]", "0:0:0:0:0:0:0:1", true), ("fd00::/8", "[fdff::1]", true),
        ("fd00::/8", "[fe80::1]", false), ("ci.example.com", "", false), ("*.example.com", "", false),
    ])
    func `a host pattern matches as it is documented`(pattern: String, host: String, expected: Bool) throws {
        #expect(try HostPattern(pattern).matches(Array(host.utf8).span) == expected)
    }

    @Test(arguments: [
        ("alice@R.TEST", "alice@R.TEST", true), ("alice@R.TEST", "Alice@R.TEST", false),
        ("alice@R.TEST", "alice@R.TESTS", false), ("*@R.TEST", "bob@R.TEST", true), ("*@*", "bob@OTHER", true),
        ("*@R.TEST", "bob@OTHER", false), ("*@R.TEST", "bob/admin@R.TEST", false), ("*@*", "HTTP/h@R.TEST", false),
        ("*/admin@R.TEST", "bob/admin@R.TEST", true), ("HTTP/*@R.TEST", "HTTP/h@R.TEST", true),
        ("HTTP/*@R.TEST", "HTTP/h/i@R.TEST", false), ("HTTP/*@R.TEST", "host/h@R.TEST", false),
        // A name may have both signs in it, behind a backslash.
        ("*@R.TEST", #"bob\@other@R.TEST"#, true), ("*@R.TEST", #"a\/b@R.TEST"#, true),
        ("*@R.TEST", #"a\\/b@R.TEST"#, false), (#"a\/b@R.TEST"#, #"a\/b@R.TEST"#, true),
        ("*@*", "WELLKNOWN/ANONYMOUS@WELLKNOWN:ANONYMOUS", false), ("*@*", "", false), ("*@*", "@", false),
        ("*@*", "bob", false),
    ])
    func `a principal's pattern matches component by component`(
        pattern: String, principal: String, expected: Bool
    ) throws {
        #expect(try #require(PrincipalPattern(pattern)).matches(principal) == expected)
    }

    @Test(arguments: ["", "alice", "@R", "alice@", "/a@R", "a/@R", "a@b@R", #"alice\@R"#])
    func `a pattern that no principal could match is refused`(text: String) {
        #expect(PrincipalPattern(text) == nil)
    }

    @Test(arguments: [
        "", "a..b", ".a", "a..", ".", "a b", "a_é", "http://a", "a/b", "10.0.0.1/8", "10.0.0.0/33", "a:80", "[a]:80",
    ])
    func `a text that is no host pattern is refused`(text: String) {
        #expect(throws: HostPattern.Fault.self) { try HostPattern(text) }
    }

    @Test(arguments: [
        ("Jenkins*", "Jenkins", true), ("Jenkins*", "Jenkins 2", true), ("Jenkins*", "jenkins", false),
        ("*", "", true), ("", "", true), ("", "x", false), ("a*c*e", "abcde", true), ("a*c*e", "abcd", false),
        ("*ab", "aab", true), ("a**b", "ab", true), ("*é*", "caféx", true),
    ])
    func `a text pattern matches as it is documented`(pattern: String, text: String, expected: Bool) {
        #expect(TextPattern(pattern).matches(text) == expected)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "255.1.1.1", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "1.2.3.4", false), ("::/0", "ffff::", true),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1/32", "192.0.2.2", false),
        ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false), ("2001:db8::/64", "2001:db8::ffff", true),
        ("2001:db8::/64", "2001:db8:0:1::", false), ("2001:db8::8/125", "2001:db8::f", true),
        ("2001:db8::8/125", "2001:db8::10", false), ("::ffff:10.0.0.0/104", "10.9.9.9", true),
    ])
    func `a prefix holds its addresses and no others`(prefix: String, address: String, expected: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(try AddressPrefix(prefix).contains(address) == expected)
    }

    @Test func `a prefix with bits behind it names the block that was meant`() throws {
        let block = try AddressPrefix("10.0.0.0/8")
        #expect(throws: AddressPrefix.Fault.hostBits(block)) { try AddressPrefix("10.1.0.0/8") }
        #expect(throws: AddressPrefix.Fault.badLength) { try AddressPrefix("10.0.0.0/33") }
        #expect(throws: AddressPrefix.Fault.badLength) { try AddressPrefix("::/129") }
        #expect(throws: AddressPrefix.Fault.notAnAddress) { try AddressPrefix("10.0.0/8") }
    }

    @Test(arguments: [
        ("127.0.0.1:3128", "127.0.0.1:3128"), ("[::1]:0", "[::1]:0"), ("0.0.0.0:65535", "0.0.0.0:65535"),
    ])
    func `an endpoint is an address and a port`(text: String, printed: String) {
        #expect(Endpoint(text)?.description == printed)
    }

    @Test(arguments: [
        "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[127.0.0.1]:80", "[::1]", "a:80",
    ])
    func `anything else is no endpoint`(text: String) {
        #expect(Endpoint(text) == nil)
    }
}
