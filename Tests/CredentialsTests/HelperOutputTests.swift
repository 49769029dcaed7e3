import Bytes
import Crypto
import Model
import Testing

@testable import Credentials

/// The output of credential helpers.
@Suite struct HelperOutputTests {
    private static func read(_ text: String, _ kind: HelperSource.Kind) throws(HelperFault) -> HelperAnswer {
        try HelperOutput.read(Array(text.utf8), as: kind)
    }

    private static func password(_ text: String, _ kind: HelperSource.Kind) throws -> [String] {
        guard case .password(let user, let secret) = try read(text, kind).content else { return [] }
        return [user, secret.withBytes { $0.text }]
    }

    private static func token(_ text: String, _ kind: HelperSource.Kind) throws -> String? {
        guard case .token(let secret) = try read(text, kind).content else { return nil }
        return secret.withBytes { $0.text }
    }

    @Test func `one line is a token, two are a user and a password`() throws {
        #expect(try Self.token("abc\n", .plain) == "abc")
        #expect(try Self.token("abc", .plain) == "abc")
        #expect(try Self.password("user\npass word\n", .plain) == ["user", "pass word"])
        #expect(try Self.password("user\n\n", .plain) == ["user", ""])
        #expect(throws: HelperFault.manyLines(2)) { try Self.read("a\nb\nc\n", .plain) }
    }

    @Test(arguments: ["", "\n"])
    func `nothing is no credential`(text: String) {
        #expect(throws: HelperFault.nothing) { try Self.read(text, .plain) }
        #expect(throws: HelperFault.nothing) { try Self.read(text, .git) }
    }

    @Test(arguments: [HelperSource.Kind.plain, .git])
    func `a carriage return, a NUL and an escape are refused`(kind: HelperSource.Kind) {
        for character in ["\r", "\0", "\u{1B}", "\u{7F}"] {
            #expect(throws: HelperFault.control) { try Self.read("username=u\(character)\npassword=p\n", kind) }
        }
    }

    @Test func `git's lines are a user and a password, and others are passed over`() throws {
        let text =
            "protocol=https\nhost=h\nusername=u\npassword=p=q\nwwwauth[]=x\nlater=1\npassword_expiry_utc=1700000000\n\n"
        #expect(try Self.password(text, .git) == ["u", "p=q"])
        let answer = try Self.read(text, .git)
        #expect(answer.end == 1_700_000_000_000)
        #expect(!answer.isEphemeral)
        #expect(answer.record.map(\.name) == ["password", "password_expiry_utc"])
    }

    @Test func `git's authtype is the scheme, and its credential the rest of the field`() throws {
        #expect(try Self.token("authtype=Bearer\ncredential=abc\nephemeral=1\n", .git) == "abc")
        #expect(try Self.read("authtype=Bearer\ncredential=abc\nephemeral=1\n", .git).isEphemeral)
        #expect(try Self.password("authtype=basic\ncredential=dTpwOnE=\n", .git) == ["u", "p:q"])
        #expect(throws: HelperFault.notBasic) { try Self.read("authtype=basic\ncredential=???\n", .git) }
        // A user with a carriage return, in base64.
        #expect(throws: HelperFault.control) { try Self.read("authtype=Basic\ncredential=DTpw\n", .git) }
        #expect(throws: HelperFault.scheme("Hawk")) { try Self.read("authtype=Hawk\ncredential=x\n", .git) }
    }

    @Test func `of git's lines nothing is used if one is wrong`() {
        #expect(throws: HelperFault.noEquals) { try Self.read("username=u\npassword=p\nhello\n", .git) }
        #expect(throws: HelperFault.noEquals) { try Self.read("=u\n", .git) }
        #expect(throws: HelperFault.nothing) { try Self.read("username=u\n", .git) }
        #expect(throws: HelperFault.nothing) { try Self.read("quit=1\nusername=u\npassword=p\n", .git) }
        let long = String(repeating: "x", count: 65_536)
        #expect(throws: HelperFault.longLine) { try Self.read("password=\(long)\n", .git) }
        #expect(throws: HelperFault.manyLines(256)) {
            try Self.read(String(repeating: "a=b\n", count: 257), .git)
        }
        #expect(throws: HelperFault.notText) {
            try HelperOutput.read(Array("username=".utf8) + [0xFF] + Array("\npassword=p\n".utf8), as: .git)
        }
    }

    @Test func `docker's object has a user and a secret, which may be empty`() throws {
        #expect(try Self.password(#"{"ServerURL":"h","Username":"u","Secret":"p"}"#, .docker) == ["u", "p"])
        #expect(throws: HelperFault.nothing) { try Self.read(#"{"ServerURL":"","Username":"","Secret":""}"#, .docker) }
        #expect(throws: HelperFault.notJSON) { try Self.read("credentials not found in native keychain", .docker) }
        #expect(throws: HelperFault.control) { try Self.read(#"{"Username":"u","Secret":"a\nb"}"#, .docker) }
    }
}
