import Authentication
import Bytes
import Crypto
import HTTP
import Testing

@testable import Challenges

struct URLCredentialTests {
    private static func credential(_ userinfo: String) throws -> Credential? {
        let bytes = Array("GET http://\(userinfo)host/ HTTP/1.1\r\nHost: host\r\n\r\n".utf8)
        let head = RequestHead()
        guard case .complete = try head.parse(bytes.span) else { return nil }
        return Credential.inURL(of: head, in: bytes.span)
    }

    @Test(arguments: [
        ("user:password@", "user", "password"),
        ("us%65r:p%40ss%3Aword@", "user", "p@ss:word"),
        ("user:a:b:c@", "user", "a:b:c"),
        ("user:@", "user", ""),
        ("user@", "user", ""),
        ("us%C3%A9r:%00@", "usér", "\0"),
        (":token@", "", "token"),
    ])
    func `user and password are what stands before and behind the first colon`(
        userinfo: String, user: String, password: String
    ) throws {
        let credential = try #require(try Self.credential(userinfo))
        #expect(credential.user == user)
        #expect(credential.password?.withBytes { $0.text } == password)
    }

    @Test(arguments: ["", "@", "us%zzr:x@", "user:%4@"])
    func `user information that is none, or cannot be decoded, is no credential`(userinfo: String) {
        #expect((try? Self.credential(userinfo)) == nil)
    }

    @Test func `its name says for whom it is`() throws {
        #expect(try Self.credential("user:password@")?.version.name == "url:user")
        #expect(try Self.credential("us%0D%0Aer:password@")?.version.name == "url:us??er")
        let (turned, mark) = try (Self.credential("%E2%80%AEresu:password@"), Self.credential("%CC%A4:password@"))
        #expect(turned?.version.name == "url:?resu", "a mark that turns the direction of text")
        #expect(mark?.version.name.unicodeScalars.elementsEqual("url:\u{324}".unicodeScalars) == true)
    }

    @Test func `a user without a password may be a token, and is not named`() throws {
        let names = try ["ghp_token@", "ghp_token:@", "other@"].map { try Self.credential($0)?.version.name }
        #expect(names.allSatisfy { $0?.contains("token") == false })
        #expect(names[0] == names[1])
        #expect(names[0] != names[2])
    }
}
