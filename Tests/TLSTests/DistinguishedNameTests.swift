import COpenSSL
import Testing

@testable import TLS

@Suite struct DistinguishedNameTests {
    private func name(_ parts: [(String, String)]) throws -> DistinguishedName {
        let name = try #require(X509_NAME_new())
        for (kind, value) in parts {
            let bytes = Array(value.utf8)
            X509_NAME_add_entry_by_txt(name, kind, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0)
        }
        return DistinguishedName(takingOwnership: name)
    }

    @Test(arguments: [
        ([("C", "DE"), ("O", "A, B + C"), ("CN", "x")], "CN=x,O=A\\, B \\+ C,C=DE"),
        ([("CN", " a ")], "CN=\\ a\\ "), ([("CN", "Zürich 東京")], "CN=Zürich 東京"),
        ([("CN", "a\nb\u{7F}")], "CN=a\\0Ab\\7F"), ([("CN", "a\u{202E}b")], "CN=a\\E2\\80\\AEb"),
        ([("1.2.3.4", "x")], "1.2.3.4=#0C0178"), ([], ""),
    ])
    func `A name is written as RFC 4514 has it, and hides nothing`(parts: [(String, String)], text: String) throws {
        #expect(try name(parts).description == text)
    }

    @Test func `Case and repeated blanks make no other name`() throws {
        let one = try name([("O", "Example  Org"), ("CN", "Root")])
        let other = try name([("O", "example org "), ("CN", "ROOT")])
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(try one != name([("CN", "Root"), ("O", "Example Org")]))
    }

    @Test func `A name comes back from its bytes, and from nothing else`() throws {
        let one = try name([("O", "Example"), ("CN", "Root")])
        #expect(DistinguishedName(der: one.der.span) == one)
        for count in 0..<one.der.count { #expect(DistinguishedName(der: Array(one.der[..<count]).span) == nil) }
        #expect(DistinguishedName(der: (one.der + [0]).span) == nil)
        #expect(DistinguishedName(der: [0x30, 0].span)?.isEmpty == true)
    }
}
