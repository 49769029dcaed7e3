import Bytes
import Testing

@testable import Authentication

@Suite struct ChallengeParserTests {
    /// Each challenge as `scheme token68 name=value|name=value`.
    static func written(_ challenge: HeaderChallenge) -> String {
        ([challenge.scheme] + (challenge.token68.map { [$0] } ?? [])
            + (challenge.parameters.isEmpty
                ? [] : [challenge.parameters.map { "\($0.name)=\($0.value.span.text)" }.joined(separator: "|")]))
            .joined(separator: " ")
    }

    private static let fields: [(String, [String])] = [
        // RFC 9110 section 11.6.1
        (
            #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
            ["basic realm=simple", #"newauth realm=apps|type=1|title=Login to "apps""#]
        ),
        (
            #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
            [#"newauth realm=apps|type=1|title=Login to "apps""#, "basic realm=simple"]
        ),
        ("Negotiate", ["negotiate"]),
        ("NTLM", ["ntlm"]),
        ("NTLM TlRMTVNTUAAC==", ["ntlm TlRMTVNTUAAC=="]),
        ("Negotiate oYG2MIGz/+a=, NTLM, Basic realm=x", ["negotiate oYG2MIGz/+a=", "ntlm", "basic realm=x"]),
        ("Negotiate abc=", ["negotiate abc="]),
        ("Negotiate, Basic realm=\"a, b=c, Digest\"", ["negotiate", "basic realm=a, b=c, Digest"]),
        (",, Basic realm=\"a\" ,, , x=1,,", ["basic realm=a|x=1"]),
        ("Basic , realm=\"a\"", ["basic realm=a"]),
        ("Basic\trealm \t=\t\"a\"\t", ["basic realm=a"]),
        ("BASIC REALM=\"A\"", ["basic realm=A"]),
        ("Basic realm=\"\"", ["basic realm="]),
        (
            "Digest realm=\"r\", nonce=ab/c+d==, qop=\"auth,auth-int\"",
            ["digest realm=r|nonce=ab/c+d==|qop=auth,auth-int"]
        ),
        ("Basic realm=a@b", ["basic realm=a@b"]),
        ("Basic realm=\"\\a\\\\\\\"\"", ["basic realm=a\\\""]),
        // As servers send it, and curl reads it.
        ("Basic realm=, NTLM", ["basic realm=", "ntlm"]), ("Basic Realm=", ["basic realm="]),
        ("Basic realm=, charset=\"UTF-8\"", ["basic realm=|charset=UTF-8"]),
        ("Basic charset=\"UTF-8\", realm=", ["basic charset=UTF-8|realm="]),
        ("Basic realm='Sandstorm API'", ["basic realm='Sandstorm API'"]),
        ("Basic realm=my realm, NTLM", ["basic realm=my realm", "ntlm"]),
        ("Basic realm=Protected Area 51 , charset=\"UTF-8\"", ["basic realm=Protected Area 51|charset=UTF-8"]),
        ("Digest realm=\"r\" nonce=\"n\"\tqop = \"auth\", NTLM", ["digest realm=r|nonce=n|qop=auth", "ntlm"]),
        ("Basic realm=\"open", ["basic realm=open"]),
        ("NTLM, Basic realm=\"open, Digest nonce=x", ["ntlm", "basic realm=open, Digest nonce=x"]),
        ("", []), (" , ,", []),
        // A parameter that cannot be read is dropped.
        ("Basic realm=\"a\"b, NTLM", ["basic", "ntlm"]),
        ("Basic realm=\"a\" NTLM", ["basic"]),
        ("Basic realm=\"a\u{1}\", NTLM", ["basic", "ntlm"]),
        ("Basic realm=\"a\", x=a\"b\", y = \"c\"d, NTLM", ["basic realm=a", "ntlm"]),
        ("Basic realm=\"a\", @@@, charset=\"UTF-8\"", ["basic realm=a|charset=UTF-8"]),
        ("Basic realm=\"a\\", ["basic"]),
        // Broken challenges are dropped, the others stand.
        ("Basic realm=\"a\", realm=\"b\"", []),
        ("Basic realm=\"a\", REALM=\"a\", NTLM", ["ntlm"]),
        ("realm=\"a\", NTLM", ["ntlm"]),
        ("@@@, NTLM", ["ntlm"]),
        ("NTLM TlRM, realm=x, Basic realm=y", ["basic realm=y"]),
        ("Basic/x realm=a, NTLM", ["ntlm"]),
        ("Basic \\, NTLM", ["ntlm"]),
    ]

    @Test(arguments: fields)
    func `challenges are read as the grammar has them, and as servers write them`(line: String, expected: [String]) {
        #expect(challenges(line).map(Self.written) == expected)
    }

    @Test func `all lines count, and a broken one hides no other`() {
        let read = challenges("Negotiate", #"Digest "x"#, #"Basic realm="y""#, "\u{7F}")
        #expect(read.map(Self.written) == ["negotiate", "basic realm=y"])
        #expect(challenges("Digest", "realm=\"x\"").map(Self.written) == ["digest"])
    }

    @Test func `values keep the server's bytes`() {
        var parser = ChallengeParser()
        let line: [UInt8] = Array("Basic realm=\"".utf8) + [0xE9, 0xFF] + Array("\"".utf8)
        parser.parse(line.span)
        #expect(parser.challenges.first?["realm"] == [0xE9, 0xFF])
        #expect(parser.challenges.first?.text("realm") == "\u{FFFD}\u{FFFD}")
    }

    @Test func `challenges beyond the limits are dropped and counted`() {
        var limits = ChallengeParser.Limits()
        limits.challenges = 2
        limits.parameters = 3
        limits.bytes = 60
        var parser = ChallengeParser(limits: limits)
        parser.parse("A, B a=1, b=2, c=3, d=4, C, D".utf8Span.span)
        #expect(parser.challenges.map(Self.written) == ["a", "c"])
        #expect(parser.refusedCount == 2)
        parser.parse("Basic realm=\"a line that is too long\"".utf8Span.span)
        #expect(parser.refusedCount == 3)
    }

    @Test func `a long hostile line is read once through`() {
        let line = String(repeating: "a=\"\\\"", count: 20_000) + String(repeating: "\"=, ", count: 10_000)
        #expect(challenges(line).isEmpty)
    }
}
