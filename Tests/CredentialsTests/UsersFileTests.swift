import Authentication
import Bytes
import Credentials
import Crypto
import Foundation
import TestSupport
import Testing

@Suite struct UsersFileTests {
    func hash(_ password: String) throws -> String { try PasswordHash.make(Secret(password), method: .sha256) }

    @Test func `users are verified, and remembered until the file changes`() throws {
        let file = try TemporaryFile("# users\n\nalice:\(try hash("a"))\r\nbob:\(try hash("b"))\n")
        let users = try UsersFile(path: file.path, realm: "the realm")
        #expect(users.refresh().isEmpty)
        #expect(users.userCount == 2)
        let knows = { (user: String, password: String) in
            users.outcome(user: user.utf8Span.span, password: password.utf8Span.span) == true
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
        let users = try UsersFile(path: file.path, realm: "the realm")
        #expect(users.refresh().isEmpty)
        #expect(users.verify(user: "jos\u{E9}", password: Secret("a")))
        #expect(!users.verify(user: "jose\u{301}", password: Secret("a")))
    }

    @Test(arguments: [
        ("u:$1$salt$qJH7.N4xYta3aEG/dfqo/0", "MD5 is too weak"),
        ("u:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "unsalted SHA-1 is too weak"),
        ("u:hunter2", "plain text or DES is too weak"), ("u:", "plain text or DES is too weak"),
        ("u:realm:0123456789abcdef0123456789abcdef", "another realm"),
        ("u:$9$unknown", "unknown kind of password hash"), ("u:$9$unknown:name", "unknown kind of password hash"),
        ("u:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=:name:mail", "unsalted SHA-1 is too weak"),
        ("u:$6$rounds=999999999$abcdefgh$jcG", "takes too long to check"),
        ("u:$2b$15$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "takes too long to check"),
        ("u:$y$jFT$abcdefghijklmnop$h", "takes too long to check"), ("just text", "expected a user name"),
        (":$5$secret", "expected a user name"), (" u:$5$secret", "there is a blank"),
        ("u :$5$secret", "there is a blank"),
        ("u: $5$secret", "there is a blank"), ("u:the realm:0123", "expected a user name, a realm and 32 or 64"),
        ("u:the realm:", "32 or 64"),
    ])
    func `a line that cannot be used is told by number, and shows no hash`(line: String, message: String) throws {
        let file = try TemporaryFile("# first\n\(line)\ngood:\(try hash("g"))\n")
        let users = try UsersFile(path: file.path, realm: "the realm")
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
        let users = try UsersFile(path: file.path, realm: "the realm")
        #expect(users.refresh().map(\.line) == [2])
        #expect(users.verify(user: "u", password: Secret("one")))
        #expect(!users.verify(user: "u", password: Secret("two")))
    }

    @Test func `a file that cannot be read leaves the users as they are`() throws {
        let file = try TemporaryFile("u:\(try hash("p"))")
        let users = try UsersFile(path: file.path, realm: "the realm")
        _ = users.refresh()
        try file.remove()
        #expect(
            users.refresh().map(\.description) == [
                "\(file.path): cannot read the file: no such file or directory"
            ])
        #expect(users.verify(user: "u", password: Secret("p")))
    }

    @Test(arguments: ["", " ", "\t \r"])
    func `blanks behind a hash and a byte order mark before the first user are no part of them`(end: String) throws {
        let file = try TemporaryFile("\u{FEFF}alice:\(try hash("a"))\(end)\nbob:\(try hash("b"))\(end)")
        let users = try UsersFile(path: file.path, realm: "the realm")
        #expect(users.refresh().isEmpty)
        #expect(users.verify(user: "alice", password: Secret("a")))
        #expect(users.verify(user: "bob", password: Secret("b")))
    }

    @Test func `columns behind a hash are ignored`() throws {
        let digits = "0123456789abcdef0123456789abcdef"
        let file = try TemporaryFile(
            """
            alice:\(try hash("a")):Alice Example:alice@example.com
            bob:\(try hash("b")):
            carol:\(try hash("c")):\(digits)
            dave:$realm:\(digits)
            erin:{realm}:\(digits)
            """)
        let users = try UsersFile(path: file.path, realm: "$realm")
        let problem = "\(file.path):5: the line is for another realm than \"$realm\", and is ignored"
        #expect(users.refresh().map(\.description) == [problem])
        #expect(users.verify(user: "alice", password: Secret("a")))
        #expect(!users.verify(user: "alice", password: Secret("b")))
        #expect(users.verify(user: "bob", password: Secret("b")))
        #expect(users.verify(user: "carol", password: Secret("c")))
        #expect(users.digestKey(of: "dave".utf8Span.span, .md5) != nil)
        #expect(users.digestKey(of: "carol".utf8Span.span, .md5) == nil)
    }

    /// The lines are those of `htdigest`, and of RFC 7616 section 3.4.2 with SHA-256.
    @Test func `an htdigest line is for Digest, and for Basic where there is no other`() async throws {
        let file = try TemporaryFile(
            """
            Mufasa:http-auth@example.org:3d78807defe7de2157e2b0b6573a855f
            Mufasa:http-auth@example.org:7987c64c30e25f1b74be53f966b49b90f2808aa92faf9a00262392d7b4794232
            zazu:http-auth@example.org:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
            zazu:http-auth@example.org:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB
            """)
        let users = try UsersFile(path: file.path, realm: "http-auth@example.org")
        #expect(users.refresh().map(\.line) == [4])
        #expect(users.userCount == 2)
        for algorithm in [DigestAlgorithm.md5, .sha256] {
            let known = users.digestKey(of: "Mufasa".utf8Span.span, algorithm)
            let made = DigestKey.make(
                algorithm, user: "Mufasa", realm: "http-auth@example.org".utf8Span.span,
                password: Secret("Circle of Life"))
            #expect(known?.name == "Mufasa")
            #expect(known?.key.array == made.array)
        }
        let unknown = [
            users.digestKey(of: "zazu".utf8Span.span, .sha256), users.digestKey(of: "mufasa".utf8Span.span, .md5),
        ]
        #expect(unknown.allSatisfy { $0 == nil })
        #expect(users.digestAlgorithms == [.sha256, .md5])
        let verdicts = try await onLoop { loop in
            let client = PlayedClient(on: loop).waiting
            return [
                await users.authenticate(user: "Mufasa", password: Secret("Circle of Life"), for: client),
                await users.authenticate(user: "Mufasa", password: Secret("circle of life"), for: client),
                await users.authenticate(user: "zazu", password: Secret("Circle of Life"), for: client),
            ]
        }
        #expect(verdicts == [.right, .wrong, .wrong])
    }

    @Test func `users who cannot use Digest are named where it is offered`() throws {
        let (md5, sha256) = (String(repeating: "0", count: 32), String(repeating: "0", count: 64))
        let file = try TemporaryFile("a:\(try hash("a"))\nb:r:\(md5)\nc:r:\(md5)\nc:r:\(sha256)\n")
        #expect(try UsersFile(path: file.path, realm: "r").refresh().isEmpty)
        let users = try UsersFile(path: file.path, realm: "r", offersDigest: true)
        let problems = users.refresh().map(\.description)
        #expect(problems.count == 2)
        let first = "these users can log in by Basic only, because they have no Digest line for the realm \"r\": a;"
        #expect(problems.first?.contains(first) == true)
        #expect(problems.last?.contains("none of SHA-256") == true)
        #expect(problems.last?.contains("cannot log in: b;") == true)
        try file.write("b:r:\(md5)\n")
        #expect(users.refresh().isEmpty)
        #expect(users.digestAlgorithms == [.md5])
    }

    @Test func `of many that ask for the same at once each has the answer`() async throws {
        let file = try TemporaryFile("u:\(try hash("p"))\n")
        let users = try UsersFile(path: file.path, realm: "r")
        _ = users.refresh()
        let answers = try await onLoop { loop in
            await withTaskGroup(of: (Bool, PasswordVerdict).self) { group in
                for index in 0..<40 {
                    group.addTask(executorPreference: loop) {
                        let isRight = index % 2 == 0
                        let client = PlayedClient(on: loop).waiting
                        let password = Secret(isRight ? "p" : "q")
                        return (isRight, await users.authenticate(user: "u", password: password, for: client))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(answers.count == 40)
        #expect(answers.allSatisfy { $0.1 == ($0.0 ? .right : .wrong) })
        let outcomes = ["p", "q", "r"].map { users.outcome(user: "u".utf8Span.span, password: $0.utf8Span.span) }
        #expect(outcomes == [true, false, nil])
    }

    @Test func `a user's mark changes with the user's lines alone`() throws {
        let line = "u:\(try hash("p"))\n"
        let file = try TemporaryFile(line)
        let users = try UsersFile(path: file.path, realm: "r")
        _ = users.refresh()
        let (version, mark) = (users.version, try #require(users.mark(of: "u")))
        try file.write(line + "other:\(try hash("p"))\n")
        _ = users.refresh()
        #expect(users.version != version)
        #expect(users.mark(of: "u") == mark)
        try file.write("u:\(try hash("p"))\n")
        _ = users.refresh()
        #expect(users.mark(of: "u") != mark)
        try file.write("")
        _ = users.refresh()
        #expect(users.mark(of: "u") == nil)
    }

    /// Kubernetes does this: the link in the path is replaced in one step.
    @Test func `a file whose directory is swapped by a link is read anew`() throws {
        let folder = NSTemporaryDirectory() + "attache-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, user) in [("..first", "a"), ("..second", "b")] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            let line = "\(user):\(try hash("p"))\n"
            try line.write(toFile: "\(folder)/\(name)/users", atomically: false, encoding: .utf8)
        }
        symlink("..first", "\(folder)/..data")
        symlink("..data/users", "\(folder)/users")
        let users = try UsersFile(path: "\(folder)/users", realm: "r")
        #expect(users.refresh().isEmpty)
        #expect(users.verify(user: "a", password: Secret("p")))
        symlink("..second", "\(folder)/..data_tmp")
        rename("\(folder)/..data_tmp", "\(folder)/..data")
        #expect(users.refresh().isEmpty)
        #expect(!users.verify(user: "a", password: Secret("p")))
        #expect(users.verify(user: "b", password: Secret("p")))
    }
}
