import Authentication
import Bytes
import Crypto
import Model
import Testing

@testable import Credentials

/// Files with credentials that other programs keep.
struct CredentialFileTests {
    private func read(_ text: String) throws -> FoundCredentials? {
        let bytes = Array(text.utf8)
        return try CredentialFileKind(of: bytes.span).read(bytes.span)
    }

    /// Returns the credentials found, as `LINE PLACE USER PASSWORD`.
    private func found(_ text: String) throws -> [String] {
        try #require(try read(text)).credentials.map { one in
            let place =
                switch one.server {
                case .host(let host): host
                case .url(let url): url
                case .proxy(let url): "proxy \(url)"
                }
            return "\(one.line) \(place) \(one.user) \(one.password.withBytes { $0.text })"
        }
    }

    private func problem(_ text: String) -> String? {
        do {
            _ = try read(text)
            return nil
        } catch let problem as CredentialFileKind.Problem {
            return "\(problem.line.map(String.init) ?? "-"): \(problem.sentence)"
        } catch { return "\(error)" }
    }

    private static let entries: [(String, [String]?)] = [
        ("machine a.test login bob password secret", ["1 a.test bob secret"]),
        ("machine a.test\n  login bob\n\tpassword secret\n", ["1 a.test bob secret"]),
        ("MACHINE a.test Login bob PASSWORD secret", ["1 a.test bob secret"]),
        ("machine a.test password secret login bob", ["1 a.test bob secret"]),
        ("machine a.test login bob account acme password secret", ["1 a.test bob secret"]),
        ("machine a.test login \"bob \\\"b\\\" \\\\\" password \"two words\"", ["1 a.test bob \"b\" \\ two words"]),
        ("machine a.test login machine password login", ["1 a.test machine login"]),
        ("machine a.test login b#b password #x", ["1 a.test b#b #x"]),
        ("# to begin with\n\nmachine a.test login bob password secret # \n", ["3 a.test bob secret"]),
        (
            "machine a.test #x\nlogin bob # password no\npassword p # mine\nmachine b.test login ann password #",
            ["1 a.test bob p", "4 b.test ann #"]
        ),
        ("# to begin with\n  # more\nmachine a.test login bob password secret", ["3 a.test bob secret"]),
        (
            "machine a.test login bob password secret\nmacdef init\ncd /pub\nmachine x login y\n\n"
                + "machine b.test login ann password geheim",
            ["1 a.test bob secret", "6 b.test ann geheim"]
        ),
        ("machine a.test login bob password secret\nmacdef init\nquit", ["1 a.test bob secret"]),
        (
            "machine a.test login bob password one\nmachine a.test login ann password two",
            ["1 a.test bob one", "2 a.test ann two"]
        ),
        ("machine a.test login bob password pässwörd\r\n", ["1 a.test bob pässwörd"]),
    ]

    @Test(arguments: entries)
    func `netrc is read as curl reads it`(_ text: String, _ expected: [String]?) throws {
        if let expected { #expect(try found(text) == expected) } else { #expect(problem(text) != nil) }
    }

    @Test(arguments: ["-", "--", "- ", "-\n--\n---"])
    func `dashes alone are no option, and end nothing`(_ lines: String) throws {
        #expect(try found("\(lines)\nuser = bob:secret\nurl = http://a.test/\n").count == 1)
    }

    /// If each line were compared with all earlier ones, this would take many minutes.
    @Test func `a netrc of many machines is read as fast as it is long`() throws {
        let lines = (0..<40_000).map { "machine \($0).test login bob password secret\n" }
        let text = lines.joined()
        let last = try #require(try read(text)).credentials.last
        #expect(last?.server == .host("39999.test"))
        let more = try #require(try read(text + "machine 39999.test login bob password x"))
        #expect(more.omissions.map(\.line) == [40_001])
        #expect(more.omissions.first?.sentence.contains("in line 40000") == true)
    }

    @Test func `the default entry of a netrc is left out, with a word about it`() throws {
        let found = try #require(try read("machine a.test login b password c\ndefault login anonymous password me@x"))
        #expect(found.credentials.count == 1)
        #expect(found.omissions.map(\.line) == [2])
    }

    @Test(arguments: [
        ("machine b.test password hush", "the machine b.test has no 'login' and is left out: add 'login USER'"),
        ("machine b.test login bob", "the machine b.test has no 'password' and is left out: add 'password PASSWORD'"),
        ("machine b.test account x", "the machine b.test has no 'login' and is left out: add 'login USER'"),
        ("machine a.test login bob password hush", "the entry repeats line 1 and is left out"),
        (
            "machine a.test login bob password \"hush hush\"",
            "the machine a.test has another password for this 'login' in line 1, which is the one that counts: remove the "
                + "wrong one"
        ),
        (
            "machine b.test login bob password \"hush\\nb\"",
            "the password has a control character in it: the machine b.test is left out"
        ),
        ("machine b.test login bob password \"\"", "the password is empty: the machine b.test is left out"),
        ("machine b.test login \"\" password hush", "the user has no name: the machine b.test is left out"),
    ])
    func `an entry of netrc that cannot be kept is left out, and the others are read`(
        _ entry: String, _ sentence: String
    ) throws {
        let text = "machine a.test login bob password hush\n\(entry)\nmachine c.test login ann password x"
        let found = try #require(try read(text))
        #expect(found.credentials.map(\.line) == [1, 3])
        #expect(found.omissions.map(\.line) == [2])
        #expect(found.omissions.map(\.sentence) == [sentence])
        #expect(!sentence.contains("hush"))
    }

    @Test(arguments: [
        ("machine", "1: 'machine' has nothing behind it"),
        ("machine a.test login bob login ann password x", "1: the machine has a second 'login'"),
        ("machine a.test login bob password \"secret", "1: a double quote is not closed in its line"),
        (
            "machine a.test login bob password two words",
            "1: a word stands here that is none of 'machine', 'default', 'login', 'password', 'account' and 'macdef'; a "
                + "value with blanks in it stands in double quotes"
        ),
    ])
    func `netrc that is not understood is refused, and no password is shown`(
        _ text: String, _ expected: String
    ) {
        #expect(problem(text) == expected)
    }

    @Test(arguments: [
        ("user = bob:secret\nurl = http://a.test/x", ["1 http://a.test/ bob secret"]),
        ("url http://a.test/x\n--user \"bob:two words\"", ["2 http://a.test/ bob two words"]),
        ("-u bob:secret\nurl: https://a.test:8443?x", ["1 https://a.test:8443/ bob secret"]),
        ("-ubob:se:cret\nurl=a.test", ["1 http://a.test/ bob se:cret"]),
        (
            "user = \"bob:q\\\"q\\\\\"\nurl = \"http://a.test/\" # here\nurl = http://b.test",
            ["1 http://a.test/ bob q\"q\\", "1 http://b.test/ bob q\"q\\"]
        ),
        ("url = \"https://bob:s%40cret@a.test/\"", ["1 https://a.test/ bob s@cret"]),
        (
            "proxy = http://proxy.test:3128\nproxy-user = bob:secret\nurl = http://a.test/",
            ["2 proxy http://proxy.test:3128/ bob secret"]
        ),
        ("proxy = \"http://bob:secret@proxy.test:3128\"", ["1 proxy http://proxy.test:3128/ bob secret"]),
        (
            "url = http://a.test/\nuser = bob:one\nnext\nurl = http://b.test/\nuser = bob:two",
            ["2 http://a.test/ bob one", "5 http://b.test/ bob two"]
        ),
        ("silent\n-sS\noutput = \"x y\"\n/ comment\n* comment\nurl = http://a.test/", []),
        ("user-agent = \"a\"\nurl = http://a.test/\n", []),
        ("url = http://[::1]:8080/\nuser = bob:secret", ["2 http://[::1]:8080/ bob secret"]),
    ])
    func `a configuration file of curl's is read for its users`(_ text: String, _ expected: [String]) throws {
        #expect(try found(text) == expected)
    }

    @Test(arguments: [
        ("user = bob:secret", "1: no 'url' says which server this user is for"),
        ("proxy-user = bob:secret\nurl = http://a.test/", "1: no 'proxy' says which server this user is for"),
        ("url = http://a.test/\nuser = bob", "2: the user has no password here: curl would ask for it"),
        (
            "url = http://a.test/\nuser = bob:two words",
            "2: the value of 'user' has a blank in it: put it in double quotes"
        ),
        ("url = http://a.test/\nuser = \"bob:secret", "2: a double quote is not closed in its line"),
        (
            "url = http://a.test/\nuser = bob:a\nuser = bob:b",
            "3: 'user' is written twice; write 'next' before another transfer"
        ),
        ("-su bob:secret", "1: several short options in one word: write each in a line of its own"),
        (
            "oauth2-bearer = abcdef",
            "1: 'oauth2-bearer' is not a user with a password: write it in the rule file"
        ),
        ("header = \"Authorization: Basic Ym9i\"", "1: a header with credentials is not a user with a password"),
        ("netrc-file = x", "1: 'netrc-file' names another file: import that file too"),
        ("url = http://{a,b}.test/\nuser = a:b", "1: the URL is a pattern for several: write each URL by itself"),
        ("proxy-user = a:b\nsocks5 = x:1", "2: 'socks5' is a proxy that sends no challenge"),
        ("proxy = proxy.test\nproxy-user = a:b", "1: the proxy has no port"),
        ("proxy = 3128\nproxy-user = a:b", "1: the proxy has no port"),
        ("proxy = proxy.test:\nproxy-user = a:b", "1: the proxy has no port"),
    ])
    func `a configuration file of curl's that is not understood is refused`(_ text: String, _ expected: String) {
        #expect(problem(text) == expected)
    }

    @Test(arguments: [
        ("bob:$2y$05$abcdefghijklmnopqrstuv", "hashes"), ("bob:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "hashes"),
        ("# users\nbob:$apr1$x$y", "hashes"), ("bob:Staff:0cc175b9c0f1b6a831c399e269772661", "hashes"),
        ("url,username,password\nhttp://a.test,bob,secret", "CSV"), ("\"name\",\"url\",\"pw\"", "CSV"),
        ("a.test;bob;secret", "CSV"), ("user,password", "CSV"), ("", "is empty"), ("# nothing\n", "is empty"),
    ])
    func `files of which no credential can be taken are known by their looks`(_ text: String, _ word: String) {
        #expect(problem(text)?.contains(word) == true)
        #expect(problem(text)?.contains("secret") == false)
    }

    // MARK: - Exports

    private func key(_ digit: UInt8) throws -> SealingKey {
        try #require(SealingKey(Secret([UInt8](repeating: digit, count: 32).span)))
    }

    private var credentials: [CredentialStore.Entry] {
        let web = Origin(host: "a.test", port: 443, protocol: .https)
        let proxy = Origin(host: "::1", port: 3128, protocol: .http, isProxy: true)
        let rows: [(String, String, ProtectionSpace, Bool)] = [
            (
                "bob", "open sesame",
                ProtectionSpace(origin: web, realm: "Q\"\\\u{1}ü", authenticationMethod: .basic), true
            ),
            ("ann", "", ProtectionSpace(origin: web, realm: "", authenticationMethod: .digest), false),
            ("CORP\\ann", "x", ProtectionSpace(origin: proxy, realm: nil, authenticationMethod: .ntlm), true),
            ("any", "y", ProtectionSpace(origin: web, realm: nil, authenticationMethod: .default), true),
        ]
        return rows.map { user, password, space, isDefault in
            CredentialStore.Entry(
                Credential(
                    name: space.credentialName(of: user), user: user, password: Secret(password),
                    persistence: .permanent),
                for: space, isDefault: isDefault)
        }
    }

    private func words(_ kept: [CredentialStore.Entry]) -> [String] {
        kept.map {
            "\($0.space) \($0.credential.user ?? "") \($0.credential.password?.withBytes { $0.text } ?? "") \($0.isDefault)"
        }
    }

    @Test func `an export is read back with its key, and holds no password`() throws {
        let text = try SealedCredentials.write(credentials, sealedWith: key(1))
        #expect(!text.contains("open sesame"))
        #expect(words(try SealedCredentials.read(Array(text.utf8).span, openedWith: key(1))) == words(credentials))
    }

    @Test func `an export that was changed, cut or is under another key yields nothing`() throws {
        let text = try SealedCredentials.write(credentials, sealedWith: key(1))
        let lines = text.split(separator: "\n").map(String.init)
        let moved = lines[1].replacing("\"user\":\"bob\"", with: "\"user\":\"eve\"")
        let cases: [(String, Int?, UInt8)] = [
            (text, 1, 2), (lines.dropLast().joined(separator: "\n"), nil, 1), (text + lines[1], 6, 1),
            ([lines[0], moved, lines[2], lines[3], lines[4]].joined(separator: "\n"), 2, 1),
            ([lines[0], lines[1], "{}", lines[3], lines[4]].joined(separator: "\n"), 3, 1), ("{}", 1, 1), ("", nil, 1),
            (lines.dropFirst().joined(separator: "\n"), 1, 1),
        ]
        for (index, (text, line, digit)) in cases.enumerated() {
            let key = try key(digit)
            do {
                _ = try SealedCredentials.read(Array(text.utf8).span, openedWith: key)
                Issue.record("case \(index)")
            } catch { #expect(error.line == line, "case \(index): \(error)") }
        }
    }
}
