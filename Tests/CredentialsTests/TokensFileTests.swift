import Bytes
import Credentials
import Crypto
import Testing

@Suite struct TokensFileTests {
    /// SHA-256 of "abc" (FIPS 180-2 appendix B.1) and of nothing.
    private static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private func user(of token: String, in tokens: TokensFile) -> String? { tokens.user(of: token.utf8Span.span) }

    @Test func `a token leads to its user until its line is gone`() throws {
        let file = try TemporaryFile("\u{FEFF}# tokens\nrunner:\(Self.abc) \r\nrunner:\(Self.nothing.uppercased())\n")
        let tokens = try TokensFile(path: file.path)
        #expect(user(of: "abc", in: tokens) == nil)
        #expect(tokens.refresh().isEmpty)
        let version = tokens.version
        #expect(user(of: "abc", in: tokens) == "runner")
        #expect(user(of: "", in: tokens) == "runner")
        #expect(user(of: "abd", in: tokens) == nil)
        #expect(tokens.contains("runner") && !tokens.contains("abc"))
        try file.write("other:\(Self.abc)\n")
        #expect(tokens.refresh().isEmpty)
        #expect(tokens.version != version)
        #expect(user(of: "abc", in: tokens) == "other")
        #expect(user(of: "", in: tokens) == nil)
    }

    @Test(arguments: [
        ("runner", "expected a user name, a colon and the token's SHA-256"), ("runner:abc", "SHA-256"),
        (":" + abc, "SHA-256"), ("runner:\(abc)00", "SHA-256"), ("runner :" + abc, "there is a blank"),
        ("second:" + abc, "duplicate token"),
    ])
    func `a line that cannot be used is told by number`(line: String, message: String) throws {
        let file = try TemporaryFile("good:\(Self.abc)\n\(line)\n")
        let tokens = try TokensFile(path: file.path)
        let problems = tokens.refresh().map(\.description)
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("\(file.path):2: ") == true)
        #expect(problems.first?.contains(message) == true)
        #expect(user(of: "abc", in: tokens) == "good")
    }

    @Test func `a file that cannot be read leaves the tokens as they are`() throws {
        let file = try TemporaryFile("runner:\(Self.abc)\n")
        let tokens = try TokensFile(path: file.path)
        _ = tokens.refresh()
        try file.remove()
        #expect(tokens.refresh().count == 1)
        #expect(user(of: "abc", in: tokens) == "runner")
    }
}
