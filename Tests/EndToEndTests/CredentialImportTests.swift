import Foundation
import TestSupport
import Testing

/// Credentials that are taken out of other programs' files.
struct CredentialImportTests {
    private func guardedOrigin() throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            let isAnswered = request["Authorization"] != nil
            try connection.reply(
                isAnswered ? "200 OK" : "401 Unauthorized", isAnswered ? [] : ["WWW-Authenticate: Basic realm=\"r\""])
        }
    }

    private func command(_ words: [String], in proxy: AttacheProcess) throws -> Finished {
        try Finished.run(AttacheBinary.path, words + ["--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
    }

    /// The credential that curl reads from the file.
    private func answerOfCurl(_ options: [String], at origin: RecordingOrigin) throws -> String? {
        let before = origin.messages.count
        _ = try Finished.run("curl", ["-q", "-sS", "--max-time", "20"] + options, seconds: 30)
        return origin.messages.dropFirst(before).last?["Authorization"]
    }

    private func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    @Test func `the proxy sends what curl sends by the same configuration file`() throws {
        let origin = try guardedOrigin()
        let host = "127.0.0.1:\(origin.port)"
        let files = [
            "user = \"\(Account.user):\(Account.password)\"\nurl = \"http://\(host)/\"\n",
            "# a comment\nsilent\n--user \(Account.user):\(Account.colonPassword)\n-o /dev/null\nurl=http://\(host)/\n",
            "url http://\(host)/\n-u\(Account.user):\(Account.unicodePassword)\n",
            "url = \"http://\(Account.user):\(Account.wrongPassword.replacing("/", with: "%2F"))@\(host)/\"\n",
            "user = \"b\\\"o b:\(Account.password)\\\\\\\"\"\nurl = \(host)\n",
        ]
        for (number, text) in files.enumerated() {
            try AttacheProcess.running("store sqlite @/credentials.db") { proxy throws in
                try Scratch.write(text, to: proxy.folder + "/curlrc", mode: 0o600)
                let wanted = try #require(try answerOfCurl(["-K", proxy.folder + "/curlrc"], at: origin), "\(number)")
                #expect(try proxy.get(origin.url()).status == 401)
                let run = try command(["credential", "import", "curlrc"], in: proxy)
                #expect(run.succeeded, "\(number): \(run)")
                #expect(try Wait.until { try proxy.get(origin.url()).status == 200 }, "\(number)")
                #expect(origin.messages.last?["Authorization"] == wanted, "\(number)")
            }
        }
    }

    /// The tests of the reader have these lines too. (How curl reads a word that begins with `#` depends on its
    /// version.)
    @Test func `curl reads netrc as it is read here`() throws {
        let origin = try guardedOrigin()
        let folder = Scratch.folder("netrc")
        let lines = [
            ("login bob password secret", "bob", "secret"), ("Login bob PASSWORD secret", "bob", "secret"),
            ("password secret login bob", "bob", "secret"), ("login bob account acme password secret", "bob", "secret"),
            ("login \"bob \\\"b\\\" \\\\\" password \"two words\"", "bob \"b\" \\", "two words"),
            ("login b#b password x#", "b#b", "x#"), ("\n# a comment\n login bob\n\tpassword secret", "bob", "secret"),
        ]
        for (words, user, password) in lines {
            try Scratch.write("machine 127.0.0.1 \(words)\n", to: folder + "/netrc", mode: 0o600)
            #expect(
                try answerOfCurl(["--netrc-file", folder + "/netrc", origin.url()], at: origin)
                    == basic(user, password), "\(words)")
        }
    }

    @Test func `an entry of netrc answers on every port of its host, as with curl`() throws {
        let (one, two) = (try guardedOrigin(), try guardedOrigin())
        try AttacheProcess.running("store sqlite @/credentials.db") { proxy throws in
            let netrc = "machine 127.0.0.1 login \(Account.user) password secret\n"
            try Scratch.write(netrc, to: proxy.folder + "/netrc", mode: 0o600)
            let run = try command(["credential", "import", "netrc", "--protocol", "http"], in: proxy)
            #expect(run.succeeded, "\(run)")
            for origin in [one, two] {
                let curl = try answerOfCurl(["--netrc-file", proxy.folder + "/netrc", origin.url()], at: origin)
                #expect(curl == basic(Account.user, "secret"))
                #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
                #expect(origin.messages.last?["Authorization"] == curl)
            }
            // One for the very port goes first, and its removal leaves the other.
            try Scratch.write("particular", to: proxy.folder + "/typed", mode: 0o600)
            let set = try command(
                ["credential", "set", one.url(), "eve", "--method", "any", "--password-file", "typed"], in: proxy)
            #expect(set.succeeded, "\(set)")
            let other = try guardedOrigin()
            #expect(try proxy.get(other.url()).status == 200)
            #expect(other.messages.last?["Authorization"] == basic(Account.user, "secret"))
            let list = try command(["credential", "list"], in: proxy)
            #expect(list.output.contains("any method of http://127.0.0.1:*"), "\(list)")
            let removed = try command(
                ["credential", "remove", "http://127.0.0.1:*/", Account.user, "--method", "any"], in: proxy)
            #expect(removed.succeeded, "\(removed)")
            let last = try guardedOrigin()
            #expect(try Wait.until { try proxy.get(last.url()).status == 401 })
        }
    }

    @Test func `an entry of netrc for ftp answers on any port`() throws {
        let server = try VsftpdServer.shared()
        try AttacheProcess.running("store sqlite @/credentials.db") { proxy throws in
            let url = server.url("/pub/hello.txt")
            #expect(try proxy.get(url).status != 200)
            let entry = "machine 127.0.0.1 login \(VsftpdServer.user) password \(Account.password)\n"
            try Scratch.write(entry, to: proxy.folder + "/netrc", mode: 0o600)
            let run = try command(["credential", "import", "netrc", "--protocol", "ftp"], in: proxy)
            #expect(run.succeeded, "\(run)")
            #expect(try Wait.until { try proxy.get(url).status == 200 })
        }
    }

    @Test func `an entry of netrc for https is not sent over http, and not to a parent`() throws {
        let origin = try guardedOrigin()
        try AttacheProcess.running("store sqlite @/credentials.db") { proxy throws in
            let netrc = "machine 127.0.0.1 login \(Account.user) password secret\n"
            try Scratch.write(netrc, to: proxy.folder + "/netrc", mode: 0o600)
            #expect(try command(["credential", "import", "netrc"], in: proxy).succeeded)
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(origin.messages.allSatisfy { $0["Authorization"] == nil })
            for words in [["--certificate", "c.pem", "--key", "k.pem"], ["bob", "--proxy", "yes"]] {
                let run = try command(["credential", "set", "https://127.0.0.1:*/"] + words, in: proxy)
                #expect(!run.succeeded && run.errorOutput.contains("instead of '*'"), "\(run)")
            }
        }
    }

    @Test func `a credential for any method answers whichever the server asks for`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.running("store sqlite @/credentials.db") { proxy throws in
            try Scratch.write(Account.password, to: proxy.folder + "/typed", mode: 0o600)
            let run = try command(
                [
                    "credential", "set", apache.url("/"), Account.user, "--method", "any", "--password-file", "typed",
                ], in: proxy)
            #expect(run.succeeded, "\(run)")
            #expect(try Wait.until { try proxy.get(apache.url("/basic/")).status == 200 })
            #expect(try proxy.get(apache.url("/digest/")).status == 200)
        }
    }
}
