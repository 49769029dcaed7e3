import Authentication
import Credentials
import Crypto
import Model
import Testing

@Suite struct ConfiguredCredentialsTests {
    @Test(arguments: [
        ("secret\n", "secret"), ("secret", "secret"), ("secret\r\n", "secret"), ("secret\n\n", "secret\n"),
        (" se cret \n", " se cret "), ("\n", ""), ("secret\r", "secret\r"),
        ("\u{FEFF}secret\r\n", "secret"), ("sec\u{FEFF}ret", "sec\u{FEFF}ret"),
    ])
    func `one newline at the end of a file is dropped, and a byte-order mark, nothing else`(
        content: String, password: String
    ) throws {
        let file = try TemporaryFile(content)
        let credentials = ConfiguredCredentials(
            [ConfiguredCredential(name: "ci", user: .literal(RedactedText("builder")), password: .file(file.path))],
            environment: [:])
        #expect(credentials.refresh().errors.isEmpty)
        let credential = try credentials.credential(named: "ci")
        #expect(credential.user == "builder")
        #expect(credential.password == Secret(password))
    }

    @Test func `a version changes with the value, and only then`() throws {
        let file = try TemporaryFile("one\n")
        let credentials = ConfiguredCredentials(
            [ConfiguredCredential(name: "ci", user: .literal(RedactedText("u")), password: .file(file.path))],
            environment: [:])
        #expect(credentials.refresh().changed.map(\.version.name) == ["ci"])
        let first = try credentials.credential(named: "ci").version
        try file.write("one")
        #expect(credentials.refresh().changed.isEmpty)
        #expect(try credentials.credential(named: "ci").version == first)
        try file.write("two\n")
        #expect(credentials.refresh().changed.count == 1)
        #expect(try credentials.credential(named: "ci").version != first)
        try file.write("one\n")
        credentials.refresh()
        #expect(try credentials.credential(named: "ci").version == first)
    }

    @Test func `rules that are read again keep the value of what cannot be read`() throws {
        let file = try TemporaryFile("one\n")
        let source = ValueSource.file(file.path)
        let configured = ConfiguredCredential(name: "ci", user: .literal(RedactedText("u")), password: source)
        let first = ConfiguredCredentials([configured], environment: [:])
        first.refresh()
        try file.write("")
        let second = ConfiguredCredentials([configured], environment: [:])
        second.keep(valuesOf: first)
        #expect(second.refresh().errors.count == 1)
        #expect(try second.credential(named: "ci").password == Secret("one"))
        // Another user is another credential.
        let other = ConfiguredCredential(name: "ci", user: .literal(RedactedText("v")), password: source)
        let third = ConfiguredCredentials([other], environment: [:])
        third.keep(valuesOf: second)
        third.refresh()
        #expect(throws: CredentialError.self) { try third.credential(named: "ci") }
    }

    @Test func `a file that is empty while it is written anew changes nothing`() throws {
        let file = try TemporaryFile("one\n")
        let credentials = ConfiguredCredentials(
            [ConfiguredCredential(name: "ci", user: .literal(RedactedText("u")), password: .file(file.path))],
            environment: [:])
        credentials.refresh()
        try file.write("")
        let refresh = credentials.refresh()
        #expect(refresh.changed.isEmpty)
        #expect(refresh.errors.map(\.description) == ["credential ci: \(file.path) is empty"])
        #expect(try credentials.credential(named: "ci").password == Secret("one"))
    }

    @Test func `values come from the environment`() throws {
        let credentials = ConfiguredCredentials(
            [
                ConfiguredCredential(name: "a", user: .environment("USER_A"), password: .environment("PASSWORD_A")),
                ConfiguredCredential(
                    name: "b", user: .literal(RedactedText("u")), password: .environment("PASSWORD_B")),
            ], environment: ["USER_A": "me", "PASSWORD_A": "mine\n"])
        #expect(credentials.refresh().errors == [.noVariable(credential: "b", variable: "PASSWORD_B")])
        #expect(try credentials.credential(named: "a").user == "me")
        #expect(try credentials.credential(named: "a").password == Secret("mine\n"))
        #expect(throws: CredentialError.noVariable(credential: "b", variable: "PASSWORD_B")) {
            try credentials.credential(named: "b")
        }
        #expect(throws: CredentialError.unknown(credential: "c")) { try credentials.credential(named: "c") }
    }

    @Test func `an unreadable file names credential and path, and the last good value holds`() throws {
        let file = try TemporaryFile("hunter2")
        let credentials = ConfiguredCredentials(
            [ConfiguredCredential(name: "ci", user: .literal(RedactedText("u")), password: .file(file.path))],
            environment: [:])
        credentials.refresh()
        try file.remove()
        let error = try #require(credentials.refresh().errors.first)
        #expect(error.description == "credential ci: cannot read \(file.path): no such file or directory")
        #expect(try credentials.credential(named: "ci").password == Secret("hunter2"))
        try file.write(String(repeating: "x", count: 70_000))
        #expect(credentials.refresh().errors == [.tooLarge(credential: "ci", path: file.path, limit: 65536)])
        #expect(try credentials.credential(named: "ci").password == Secret("hunter2"))
    }
}
