import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct TokenResponseTests {
    private func response(_ text: String, status: Int = 200) throws(TokenError) -> TokenResponse {
        guard let endpoint = HTTPEndpoint("https://id/") else { throw .noRandomness }
        var content = Array(text.utf8)
        return try TokenResponse(status: status, content: &content, from: endpoint)
    }

    /// RFC 6749 section 4.4.3.
    @Test func `the published response is read`() throws {
        let text = """
            {
              "access_token":"2YotnFZFEjr1zCsicMWpAA",
              "token_type":"example",
              "expires_in":3600,
              "example_parameter":"example_value"
            }
            """
        let read = try response(text.replacing("\"example\"", with: "\"bearer\""))
        #expect(read.token == Secret("2YotnFZFEjr1zCsicMWpAA"))
        #expect(read.lifetime == 3_600_000)
        #expect(read.refreshToken == nil)
        #expect(throws: TokenError.malformed(endpoint: "https://id/", "has a token_type other than Bearer")) {
            try response(text)
        }
    }

    @Test(arguments: [
        (#"{"token_type":"Bearer","access_token":"t","expires_in":"60"}"#, 60_000),
        (#"{"token_type":"BEARER","access_token":"t"}"#, nil),
        (
            #"{"x":[{"access_token":"no"},"}"],"access_token":"t","token_type":"bearer","expires_in":1e99}"#,
            31_622_400_000
        ),
        (#"{"access_token":"t","token_type":"bearer","expires_in":-5,"access_token":"second"}"#, nil),
        (#"{"access_token":"\u0074","token_type":"bea\u0072er","expires_in":0.5, "n":null,"b":true}"#, 1000),
        (#"{"access_token":"t","token_type":"bearer","expires_in":0}"#, nil),
        (#"{"access_token":"t","token_type":"bearer","expires_in":"-1"}"#, nil),
        (#"{"access_token":"t","token_type":"BearerToken"}"#, nil),
        (#"{"access_token":"t"}"#, nil), (#"{"access_token":"t","token_type":null}"#, nil),
        ("\u{FEFF}{\"access_token\":\"t\"}", nil),
    ])
    func `real answers are read`(text: String, lifetime: Milliseconds?) throws {
        let read = try response(text)
        #expect(read.token == Secret("t"))
        #expect(read.lifetime == lifetime)
    }

    @Test(arguments: [201, 203]) func `any status of success brings the token`(status: Int) throws {
        #expect(try response(#"{"access_token":"t","token_type":"bearer"}"#, status: status).token == Secret("t"))
        #expect(throws: TokenError.self) { try response("", status: status) }
    }

    @Test(arguments: [#""mac""#, #""DPoP""#, "5", #""""#, #""bearer token""#])
    func `a token of another type is refused`(type: String) {
        #expect(throws: TokenError.malformed(endpoint: "https://id/", "has a token_type other than Bearer")) {
            try response(#"{"access_token":"t","token_type":\#(type)}"#)
        }
    }

    @Test(arguments: [
        (#""tGzv3JOkF0XG5Qx2TlKWIA""#, "tGzv3JOkF0XG5Qx2TlKWIA"), (#""""#, nil), ("null", nil), ("5", nil),
    ])
    func `another refresh token is read`(text: String, token: String?) throws {
        let read = try response(#"{"access_token":"t","token_type":"bearer","refresh_token":\#(text)}"#)
        #expect(read.refreshToken == token.map { Secret($0) })
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"access_token":"","token_type":"bearer"}"#,
        #"{"access_token":"a b","token_type":"bearer"}"#, #"{"access_token":"a\r\nX: y","token_type":"bearer"}"#,
        #"{"access_token":5,"token_type":"bearer"}"#, #"{"access_token":"t","token_type":"bearer""#,
        #"{"access_token":"t\"#, #"{"a":tru}"#, #"{"a" "b"}"#, "{\"a\":\"\u{1}\"}",
    ])
    func `a response without a token gives none`(text: String) {
        #expect(throws: TokenError.self) { try response(text) }
    }

    /// Invariant: each member costs the same, however many there are.
    @Test(.timeLimit(.minutes(30))) func `an object of many members is read as fast as it is long`() {
        let count = 300_000
        let members = (0..<count).map { "\"\($0)\":\"a\"" }.joined(separator: ",")
        let object = JSONMembers(Array("{\(members),\"7\":\"b\"}".utf8))
        #expect(object?.text("7") == Array("a".utf8))
        #expect(object?.text("\(count - 1)") == Array("a".utf8))
    }

    @Test(arguments: [
        (#"["a","b\"c",[],{"d":"e"},7,null]"#, ["a", "b\"c"]), ("[]", []), (#"["a""#, nil), (#"["a",]"#, nil),
        (#""a""#, nil), ("[tru]", nil),
    ])
    func `the strings of an array are read`(text: String, strings: [String]?) {
        let texts = JSONMembers(Array(#"{"a":\#(text)}"#.utf8))?.texts("a")
        #expect(texts?.map { String(decoding: $0, as: UTF8.self) } == strings)
    }

    @Test func `a refusal is told from trouble`() {
        #expect(
            throws: TokenError.refused(endpoint: "https://id/", code: "invalid_client", words: "no such?client")
        ) { try response(#"{"error":"invalid_client","error_description":"no such\nclient"}"#, status: 401) }
        #expect(throws: TokenError.status(endpoint: "https://id/", 503)) {
            try response(#"{"error":"invalid_client"}"#, status: 503)
        }
        #expect(throws: TokenError.status(endpoint: "https://id/", 429)) {
            try response(#"{"error":"too_many_requests"}"#, status: 429)
        }
        #expect(throws: TokenError.status(endpoint: "https://id/", 404)) { try response("<html>", status: 404) }
    }

    @Test func `errors that may pass are told from those that stay`() {
        let passing: [TokenError] = [
            .unreachable(endpoint: "e", "no"), .status(endpoint: "e", 503), .status(endpoint: "e", 429), .undecided,
            .unclaimed("no"), .noInput("no", isTransient: true), .undiscovered(issuer: "i", "no", isDefinite: false),
            .unannounced("no", isDefinite: false),
        ]
        #expect(passing.filter { !$0.isTransient }.isEmpty)
        let lasting: [TokenError] = [
            .refused(endpoint: "e", code: "invalid_grant", words: nil), .held(reason: nil, pause: 1000),
            .status(endpoint: "e", 404), .malformed(endpoint: "e", "no"), .noInput("no"),
            .undiscovered(issuer: "i", "no", isDefinite: true), .unannounced("no", isDefinite: true), .unusableKey,
        ]
        #expect(lasting.filter(\.isTransient).isEmpty)
    }

    /// Invariant: nothing that an endpoint says traps, and depth costs nothing.
    @Test func `no answer traps`() {
        let whole = Array(#"{"a":[{"b":"\u12aD\n"},[],{}],"access_token":"t","token_type":"bearer","e":-1.5e3}"#.utf8)
        for length in 0...whole.count { _ = JSONMembers(Array(whole.prefix(length))) }
        for offset in whole.indices {
            for byte in "\"\\{}[],:u0\0\u{7F}".utf8 {
                var bytes = whole
                bytes[offset] = byte
                _ = JSONMembers(bytes)
            }
        }
        #expect(JSONMembers(Array("{\"a\":".utf8) + Array(repeating: UInt8(ascii: "["), count: 1_000_000)) == nil)
    }
}
