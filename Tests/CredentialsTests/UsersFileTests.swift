import Credentials
import Crypto
import Testing

@Suite struct UsersFileTests {
    func hash(_ password: String) throws -> String { try PasswordHash.make(Secret(password), method: .sha256) }

    @Test func `users are verified, and remembered until the file changes`() throws {
        let file = try TemporaryFile("# users\n\nalice:\(try hash("a"))\r\nbob:\(try hash("b"))\n")
        let users = try UsersFile(path: file.path)
        #expect(users.refresh().isEmpty)
        #expect(users.userCount == 2)
        let knows = { (user: String, password: String) in
            users.hasVerified(user: user.utf8Span.span, password: password.utf8Span.span)
        }
        let isKnown = { knows("alice", "a") }
        #expect(!isKnown())
        #expect(users.verify(user: "alice", password: Secret("a")))
        #expect(isKnown())
        #expect(!knows("alic", "ea"))
        #expect(!users.verify(user: "alice", password: Secret("b")))
        #expect(!knows("alice", "b"))
        #expect(users.verify(user: "bob", password: Secret("b")))
        #expect(!users.verify(user: "carol", password: Secret("b")))
        _ = users.refresh()
        #expect(isKnown())
        try file.write("alice:\(try hash("new"))\n")
        #expect(users.refresh().isEmpty)
        #expect(!isKnown())
        #expect(!users.verify(user: "alice", password: Secret("a")))
        #expect(users.verify(user: "alice", password: Secret("new")))
    }

    @Test func `a user is known by the bytes of its name, as rules are`() throws {
        let file = try TemporaryFile("jos\u{E9}:\(try hash("a"))\n")
        let users = try UsersFile(path: file.path)
        #expect(users.refresh().isEmpty)
        #expect(users.verify(user: "jos\u{E9}", password: Secret("a")))
        #expect(!users.verify(user: "jose\u{301}", password: Secret("a")))
    }

    @Test(arguments: [
        ("u:$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/", "Apache's MD5 is too weak"),
        ("u:$1$salt$qJH7.N4xYta3aEG/dfqo/0", "MD5 is too weak"),
        ("u:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "unsalted SHA-1 is too weak"),
        ("u:hunter2", "plain text or DES is too weak"), ("u:", "plain text or DES is too weak"),
        ("u:realm:0123456789abcdef0123456789abcdef", "htdigest lines are not supported yet"),
        ("u:$9$unknown", "no method that libcrypt knows"), ("just text", "expected a user name"),
        (":$5$secret", "expected a user name"),
    ])
    func `a line that cannot be used is told by number, and shows no hash`(line: String, message: String) throws {
        let file = try TemporaryFile("# first\n\(line)\ngood:\(try hash("g"))\n")
        let users = try UsersFile(path: file.path)
        let problems = users.refresh().map(\.description)
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("\(file.path):2: ") == true)
        #expect(problems.first?.contains(message) == true)
        #expect(problems.first?.contains(line.dropFirst(2)) != true || line.count < 3)
        #expect(users.verify(user: "good", password: Secret("g")))
        #expect(!users.verify(user: "u", password: Secret("hunter2")))
    }

    @Test func `the first line of a user counts`() throws {
        let file = try TemporaryFile("u:\(try hash("one"))\nu:\(try hash("two"))\n")
        let users = try UsersFile(path: file.path)
        #expect(users.refresh().map(\.line) == [2])
        #expect(users.verify(user: "u", password: Secret("one")))
        #expect(!users.verify(user: "u", password: Secret("two")))
    }

    @Test func `a file that cannot be read leaves the users as they are`() throws {
        let file = try TemporaryFile("u:\(try hash("p"))")
        let users = try UsersFile(path: file.path)
        _ = users.refresh()
        try file.remove()
        #expect(
            users.refresh().map(\.description) == [
                "\(file.path): cannot read the users file: no such file or directory"
            ])
        #expect(users.verify(user: "u", password: Secret("p")))
    }
}
