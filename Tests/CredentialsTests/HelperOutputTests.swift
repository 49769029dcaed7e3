import Authentication
import Bytes
import Crypto
import Model
import Testing

@testable import Credentials

/// The output of credential helpers.
@Suite struct HelperOutputTests {
    private static func read(_ text: String, _ kind: HelperSource.Kind) throws(HelperOutput.Fault)
        -> HelperOutput.Answer
    {
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
        #expect(throws: HelperOutput.Fault.manyLines(2)) { try Self.read("a\nb\nc\n", .plain) }
    }

    @Test(arguments: ["", "\n"])
    func `nothing is no credential`(text: String) {
        #expect(throws: HelperOutput.Fault.nothing) { try Self.read(text, .plain) }
        #expect(throws: HelperOutput.Fault.nothing) { try Self.read(text, .git) }
    }

    @Test(arguments: [HelperSource.Kind.plain, .git])
    func `a carriage return, a NUL and an escape are refused`(kind: HelperSource.Kind) {
        for character in ["\r", "\0", "\u{1B}", "\u{7F}"] {
            #expect(throws: HelperOutput.Fault.control) { try Self.read("username=u\(character)\npassword=p\n", kind) }
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
        #expect(throws: HelperOutput.Fault.notBasic) { try Self.read("authtype=basic\ncredential=???\n", .git) }
        // A user with a carriage return, in base64.
        #expect(throws: HelperOutput.Fault.control) { try Self.read("authtype=Basic\ncredential=DTpw\n", .git) }
        #expect(try Self.fields("authtype=Hawk\ncredential=id=\"x\"\n", .git) == [#"Hawk id="x""#])
        #expect(throws: HelperOutput.Fault.scheme("Ha wk")) { try Self.read("authtype=Ha wk\ncredential=x\n", .git) }
    }

    @Test func `of git's lines nothing is used if one is wrong`() {
        #expect(throws: HelperOutput.Fault.noEquals) { try Self.read("username=u\npassword=p\nhello\n", .git) }
        #expect(throws: HelperOutput.Fault.noEquals) { try Self.read("=u\n", .git) }
        #expect(throws: HelperOutput.Fault.nothing) { try Self.read("username=u\n", .git) }
        #expect(throws: HelperOutput.Fault.nothing) { try Self.read("quit=1\nusername=u\npassword=p\n", .git) }
        let long = String(repeating: "x", count: 65_536)
        #expect(throws: HelperOutput.Fault.longLine) { try Self.read("password=\(long)\n", .git) }
        #expect(throws: HelperOutput.Fault.manyLines(256)) {
            try Self.read(String(repeating: "a=b\n", count: 257), .git)
        }
        #expect(throws: HelperOutput.Fault.notText) {
            try HelperOutput.read(Array("username=".utf8) + [0xFF] + Array("\npassword=p\n".utf8), as: .git)
        }
    }

    @Test func `docker's object has a user and a secret, which may be empty`() throws {
        #expect(try Self.password(#"{"ServerURL":"h","Username":"u","Secret":"p"}"#, .docker) == ["u", "p"])
        #expect(throws: HelperOutput.Fault.nothing) {
            try Self.read(#"{"ServerURL":"","Username":"","Secret":""}"#, .docker)
        }
        #expect(throws: HelperOutput.Fault.notJSON) {
            try Self.read("credentials not found in native keychain", .docker)
        }
        #expect(throws: HelperOutput.Fault.control) { try Self.read(#"{"Username":"u","Secret":"a\nb"}"#, .docker) }
    }

    /// The value of `Authorization`, if any, and the other fields as `name: value`.
    private static func fields(_ text: String, _ kind: HelperSource.Kind) throws -> [String] {
        guard case .fields(let authorization, let fields) = try read(text, kind).content else { return [] }
        let others = fields.map { field in "\(field.name): \(field.value.withBytes { $0.text })" }
        return (authorization.map { [$0.withBytes { $0.text }] } ?? []) + others
    }

    @Test func `git's answer may be one step of a login, with notes for the next`() throws {
        let answer = try Self.read(
            "capability[]=state\nauthtype=Basic\ncredential=x\ncontinue=1\nstate[]=h:1\nstate[]=h:2\n", .git)
        #expect(answer.continues)
        #expect(answer.notes.map { $0.withBytes { $0.text } } == ["h:1", "h:2"])
        #expect(answer.record.map(\.name) == ["authtype", "credential", "state[]", "state[]"])
        #expect(throws: HelperOutput.Fault.manyLines(16)) {
            try Self.read(String(repeating: "state[]=x\n", count: 17) + "username=u\npassword=p\n", .git)
        }
    }

    @Test(arguments: ["v1", "v1beta1"])
    func `kubectl's object has a token and its end`(version: String) throws {
        let head = #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/\#(version)","status":"#
        let timed = head + #"{"token":"abc","expirationTimestamp":"2033-05-18T03:33:20Z"}}"#
        #expect(try Self.token(timed, .kubectl) == "abc")
        #expect(try Self.read(timed, .kubectl).end == 2_000_000_000_000)
        guard
            case .identity = try Self.read(
                head + #"{"clientCertificateData":"PEM\n","clientKeyData":"KEY\n"}}"#, .kubectl
            ).content
        else {
            Issue.record("no certificate")
            return
        }
        let both = head + #"{"token":"abc","clientCertificateData":"PEM\n","clientKeyData":"KEY\n"}}"#
        guard case .tokenAndIdentity(let token, let certificate, let key) = try Self.read(both, .kubectl).content else {
            Issue.record("not both")
            return
        }
        #expect([token, certificate, key].map { $0.withBytes { $0.text } } == ["abc", "PEM\n", "KEY\n"])
        #expect(throws: HelperOutput.Fault.nothing) { try Self.read(head + "{}}", .kubectl) }
        #expect(throws: HelperOutput.Fault.nothing) {
            try Self.read(head + #"{"token":"","clientCertificateData":"","clientKeyData":""}}"#, .kubectl)
        }
        let half = HelperOutput.Fault.form("an ExecCredential with both certificate and key, or neither")
        for members in [#"{"clientCertificateData":"PEM"}"#, #"{"token":"abc","clientKeyData":"KEY"}"#] {
            #expect(throws: half) { try Self.read(head + members + "}", .kubectl) }
        }
        #expect(throws: HelperOutput.Fault.control) { try Self.read(head + #"{"token":"a\r"}}"#, .kubectl) }
        #expect(throws: HelperOutput.Fault.time) {
            try Self.read(head + #"{"token":"a","expirationTimestamp":"tomorrow"}}"#, .kubectl)
        }
    }

    @Test(arguments: ["{}", #"{"kind":"Pod","apiVersion":"v1"}"#, #"{"kind":"ExecCredential","apiVersion":"v1"}"#])
    func `an object of another kind is no credential of kubectl`(text: String) {
        #expect(
            throws: HelperOutput.Fault.form("an ExecCredential of client.authentication.k8s.io/v1 or v1beta1")
        ) { try Self.read(text, .kubectl) }
    }

    @Test func `the object of AWS has three keys and their end`() throws {
        let text =
            #"{"Version":1,"AccessKeyId":"AK","SecretAccessKey":"s","SessionToken":"t","Expiration":"2033-05-18T03:33:20+00:00"}"#
        let answer = try Self.read(text, .aws)
        guard case .keys(let access, let secret, let token) = answer.content else {
            Issue.record("no keys")
            return
        }
        #expect(access == "AK" && secret.withBytes { $0.text } == "s" && token?.withBytes { $0.text } == "t")
        #expect(answer.end == 2_000_000_000_000)
        #expect(throws: HelperOutput.Fault.form("the output of a credential process, version 1")) {
            try Self.read(text.replacing(":1,", with: ":2,"), .aws)
        }
        #expect(throws: HelperOutput.Fault.nothing) { try Self.read(#"{"Version":1,"AccessKeyId":"AK"}"#, .aws) }
        #expect(throws: HelperOutput.Fault.control) {
            try Self.read(#"{"Version":1,"AccessKeyId":"A\nK","SecretAccessKey":"s"}"#, .aws)
        }
    }

    @Test func `all fields of Bazel's object go, unless they frame the message`() throws {
        #expect(
            try Self.fields(#"{"headers":{"X-B":["1","2"],"authorization":["Custom x"],"A":[]}}"#, .bazel)
                == ["Custom x", "X-B: 1", "X-B: 2"])
        #expect(
            try Self.read(#"{"headers":{"A":["1"]},"expires":"2033-05-18T03:33:20Z"}"#, .bazel).end == 2_000_000_000_000
        )
        for name in ["Host", "content-length", "Proxy-Authorization", "Transfer-Encoding", "a b", ""] {
            #expect(throws: HelperOutput.Fault.field(name)) {
                try Self.read("{\"headers\":{\"\(name)\":[\"x\"]}}", .bazel)
            }
        }
        for text in ["{}", #"{"headers":{}}"#, #"{"headers":{"A":[]}}"#] {
            #expect(throws: HelperOutput.Fault.nothing) { try Self.read(text, .bazel) }
        }
        #expect(throws: HelperOutput.Fault.control) { try Self.read(#"{"headers":{"A":["x\r\ny"]}}"#, .bazel) }
        #expect(throws: HelperOutput.Fault.manyLines(16)) {
            let values = Array(repeating: "\"x\"", count: 17).joined(separator: ",")
            return try Self.read("{\"headers\":{\"A\":[\(values)]}}", .bazel)
        }
    }

    @Test func `Cargo's second line is the field's value, for a time`() throws {
        let hello = #"{"v":[1]}"# + "\n"
        #expect(
            try Self.fields(hello + #"{"Ok":{"kind":"get","token":"Custom x","cache":"session"}}"# + "\n", .cargo)
                == ["Custom x"])
        #expect(try Self.read(hello + #"{"Ok":{"kind":"get","token":"x","cache":"never"}}"#, .cargo).isEphemeral)
        let ending = hello + #"{"Ok":{"kind":"get","token":"x","cache":"expires","expiration":2000000000}}"#
        #expect(try Self.read(ending, .cargo).end == 2_000_000_000_000)
        #expect(throws: HelperOutput.Fault.time) {
            try Self.read(ending.replacing("2000000000", with: "1e300"), .cargo)
        }
        for kind in ["not-found", "url-not-supported", "operation-not-supported"] {
            #expect(throws: HelperOutput.Fault.nothing) {
                try Self.read(hello + "{\"Err\":{\"kind\":\"\(kind)\"}}", .cargo)
            }
        }
        #expect(throws: HelperOutput.Fault.said("no way")) {
            try Self.read(hello + #"{"Err":{"kind":"other","message":"no\u001bway"}}"#, .cargo)
        }
        #expect(throws: HelperOutput.Fault.self) { try Self.read(#"{"Ok":{"kind":"get","token":"x"}}"#, .cargo) }
    }
}
