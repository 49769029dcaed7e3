import Bytes
import Testing

struct HostSpellingTests {
    private func isSpelling(_ host: String, of canonical: String) -> Bool {
        host.utf8Span.span.isSpelling(of: canonical.utf8Span.span)
    }

    @Test(arguments: [
        ("example.com", "example.com"), ("Example.COM.", "example.com"), ("h", "h"), (".", "."), ("h..", "h.."),
        ("[::1].", "[::1]."),
        ("10.0.0.7", "10.0.0.7"), ("10.0.0.7.", "10.0.0.7"), ("::1", "::1"), ("[::1]", "::1"), ("[0:0::1]", "::1"),
        ("0:0:0:0:0:0:0:1", "::1"), ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("::ffff:10.0.0.7", "10.0.0.7"),
        ("[::FFFF:a00:7]", "10.0.0.7"), ("0:0:0:0:0:ffff:10.0.0.7", "10.0.0.7"), ("::10.0.0.7", "::a00:7"),
        ("fe80::1%eth0", "fe80::1%eth0"), ("a:b", "a:b"), ("[h]", "[h]"), ("[10.0.0.7]", "[10.0.0.7]"), ("", ""),
        ("127.1", "127.1"), ("É.example", "é.example"),
    ])
    func `a host has one canonical spelling`(host: String, canonical: String) {
        #expect(HostSpelling.canonical(host) == canonical)
        #expect(HostSpelling.canonical(canonical) == canonical)
    }

    @Test(arguments: [
        ["example.com", "EXAMPLE.com", "example.com."], ["127.0.0.1", "::ffff:127.0.0.1", "[::FFFF:7f00:1]"],
        ["::1", "0:0::1", "[0:0:0:0:0:0:0:1]", "::0.0.0.1", "0000:0000:0000:0000:0000:0000:0000:0001"],
        ["2001:db8::a", "2001:DB8::A", "2001:0db8:0:0:0:0:0:000a"],
    ])
    func `spellings of one host are found equal, and those of others are not`(spellings: [String]) {
        let canonical = spellings[0]
        for spelling in spellings {
            #expect(isSpelling(spelling, of: canonical), "\(spelling)")
            let respelled = spelling.utf8Span.span.respelledAddress.map { String(decoding: $0, as: UTF8.self) }
            #expect(respelled == nil || respelled == canonical, "\(spelling)")
        }
        for other in [
            "example.co", "example.com..", ".example.com", "127.0.0.2", "::127.0.0.1", "::2", "[::1", "", ".",
        ] {
            #expect(!isSpelling(other, of: canonical), "\(other)")
        }
        let respelled = canonical.utf8Span.span.respelledAddress
        #expect(respelled == nil)
    }
}
