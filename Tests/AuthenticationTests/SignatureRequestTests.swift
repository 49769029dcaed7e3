import Bytes
import Testing

@testable import Authentication

/// `Accept-Signature` (RFC 9421 section 5.1).
@Suite struct SignatureRequestTests {
    private func request(_ field: String) -> SignatureRequest? {
        SignatureRequest(Array(field.utf8).span, keyID: "kid")
    }

    @Test func `a label, its components and a nonce are read`() {
        let found = request(
            #"sig1=("@method" "@authority" "signature-agent";key="sig1" "accept");created;expires;nonce="a\"b""#
                + #";alg="ed25519";keyid="kid";tag="web-bot-auth""#)
        #expect(found?.label == "sig1")
        #expect(found?.components == ["@method", "@authority", "accept"])
        #expect(found?.nonce == "a\"b")
        #expect(request("a=()")?.components == [])
        #expect(request(#"  a=( "@path"  "@query" ) , b=()  "#)?.components == ["@path", "@query"])
    }

    @Test(arguments: [
        #"a=("@authority");tag="other""#, #"a=();keyid="another""#, #"a=();alg="rsa-pss-sha512""#, "a=();created=?0",
        "a=();tag=web-bot-auth", "a=();odd", #"a=("@status")"#, #"a=("@query-param";name="x")"#, #"a=("date";sf)"#,
        #"a=("signature";key="x")"#, #"a=("signature-agent";key="b")"#, #"a=("Date")"#, #"a=("@method" "@method")"#,
        #"a=("")"#, "a=(token)", "a=(1)", #"a=("signature-input")"#,
    ])
    func `a signature that cannot be made is passed over for the next`(field: String) {
        #expect(request(field) == nil)
        #expect(request("\(field), next=()")?.label == "next")
    }

    @Test(arguments: [
        "", "a", "a=", "a=1", "a=(", #"a=("x"#, #"a=("@path""#, #"a=("a""b")"#, "A=()", "a=(),", "a=() b=()", "a=();",
        "a=();=1",
        "a=();b=", "a=();b=:x", "a=();b=?2", #"a=();nonce="\x""#, "a=();nonce=\"\u{E9}\"", "a=()\u{0}", "=()", ",",
        "a=(?1;)", "a;b=()",
    ])
    func `a malformed field asks for nothing`(field: String) {
        #expect(request(field) == nil)
        #expect(request(field + ", next=()") == nil || field.isEmpty == false && field == "a=()\u{0}")
    }

    @Test func `there are limits`() {
        let items = { (count: Int) in (0..<count).map { "\"h\($0)\"" }.joined(separator: " ") }
        #expect(request("a=(\(items(16)))")?.components.count == 16)
        #expect(request("a=(\(items(17)))") == nil)
        let members = { (count: Int) in (0..<count).map { "m\($0)=()" }.joined(separator: ", ") }
        #expect(request(members(8))?.label == "m0")
        #expect(request(members(9)) == nil)
        #expect(request(String(repeating: "a", count: 64) + "=()") != nil)
        #expect(request(String(repeating: "a", count: 65) + "=()") == nil)
        #expect(request("a=();nonce=\"" + String(repeating: "n", count: 4083) + "\"") != nil)
        #expect(request("a=();nonce=\"" + String(repeating: "n", count: 4084) + "\"") == nil)
    }

    @Test func `a repeated member or parameter replaces the earlier one`() {
        #expect(request(#"a=("@path"), a=("@query")"#)?.components == ["@query"])
        #expect(request(#"a=();nonce="1";nonce="2""#)?.nonce == "2")
    }
}
