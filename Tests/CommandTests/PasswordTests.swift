import Testing

struct PasswordTests {
    @Test func `a person types the password twice, unseen`() throws {
        let session = try TerminalSession(["password", "alice"])
        #expect(session.awaits("Password: "))
        session.type("tr0ub4dor&3\n")
        #expect(session.awaits("Repeat it: "))
        session.type("tr0ub4dor&3\n")
        let (text, status) = session.finish()
        #expect(status == 0)
        #expect(text.contains("alice:$y$"))
        #expect(!text.contains("tr0ub4dor"))
    }

    @Test func `two different passwords make no line`() throws {
        let session = try TerminalSession(["password", "alice"])
        #expect(session.awaits("Password: "))
        session.type("one\n")
        #expect(session.awaits("Repeat it: "))
        session.type("two\n")
        let (text, status) = session.finish()
        #expect(status == 1)
        #expect(text.contains("attache: the two passwords differ"))
        #expect(!text.contains("alice:"))
    }

    @Test func `the end of the input is no password`() throws {
        let session = try TerminalSession(["password", "alice"])
        #expect(session.awaits("Password: "))
        session.type("\u{04}")
        let (text, status) = session.finish()
        #expect(status == 1)
        #expect(text.contains("attache: no password was given"))
    }

    @Test func `an interrupt ends the program as it does any other`() throws {
        let session = try TerminalSession(["password", "alice"])
        #expect(session.awaits("Password: "))
        session.type("\u{03}")
        #expect(session.finish().status == 130)
    }

    @Test func `the same password never makes the same line`() throws {
        let folder = try Folder(["password.txt": "correct horse battery staple"])
        let lines = try (1...2).map { _ in
            try AttacheProgram.run("attache password dave < password.txt", in: folder).output
        }
        #expect(lines[0] != lines[1])
    }
}
