import Foundation
import Testing

/// `attache trust --accept`.
struct TrustAcceptanceTests {
    private static let store = "store sqlite st/credentials.db\n"

    @Test func `yes on the command line keeps the key, and the server is trusted from then on`() throws {
        let result = try LabServer.run(
            """
            attache trust $server --accept --until 2100-01-01 --yes > said; echo status $?
            grep -c "This key is trusted until 2100-01-01" said; tail -1 said | sed "s|$pin|PIN|; s|$server|SERVER|"
            attache credential list | sed "s|$pin|PIN|; s|$server|SERVER|"
            attache trust $server | tail -1; attache trust $server > /dev/null; echo status $?
            attache trust $server --accept --until 2090-01-01 --yes > /dev/null
            attache credential list | grep -c 2090-01-01
            $(tail -1 said); echo status $?
            attache trust $server | grep ^not
            """, rules: Self.store)
        #expect(
            result.output == """
                status 0
                1
                  attache credential remove https://SERVER PIN --method server-trust
                -    PIN  trust  https://SERVER, until 2100-01-01
                trusted by a stored exception until 2100-01-01, which forgives self-signed
                status 0
                1
                status 0
                not trusted: self-signed

                """, "\(result)")
        #expect(!result.errorOutput.contains("cannot"), "\(result)")
    }

    @Test func `another key at the same address is not trusted`() throws {
        let result = try LabServer.run(
            """
            attache trust $server --accept --until 2100-01-01 --yes > /dev/null 2>&1
            kill $child; wait $child 2> /dev/null
            \(LabServer.start)
            attache trust $server | grep trusted | head -1
            """, rules: Self.store)
        #expect(result.output == "not trusted: self-signed\n", "\(result)")
    }

    @Test func `without a terminal and without yes nothing is asked and nothing kept`() throws {
        let result = try LabServer.run(
            "attache trust $server --accept --until 2100-01-01; echo status $?; ls", rules: Self.store)
        #expect(result.output == "status 1\ncert.pem\nkey.pem\nlog\nproxy.conf\n", "\(result)")
        #expect(
            result.errorOutput
                == "attache: there is no terminal to confirm: compare the key pin with one from another source, then add --yes\n"
        )
    }

    @Test(arguments: [
        ("cancel", "no exception forgives that"), ("reject", "no exception forgives that"),
        (
            "allow self-signed; pin sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; trust",
            "no exception forgives that"
        ), ("allow self-signed; pin PIN; trust", "no exception is needed"),
    ])
    func `what a rule says already is not excepted`(answer: String, sentence: String) throws {
        let rules = Self.store + "challenge { host 127.0.0.1; port PORT; method server-trust; \(answer) }\n"
        let result = try LabServer.run(
            "attache trust $server --accept --until 2100-01-01 --yes > /dev/null; echo status $?; ls -d st",
            rules: rules)
        #expect(result.output == "status 1\n", "\(result)")
        #expect(result.errorOutput.hasPrefix("attache: nothing was stored: \(sentence)\n"), "\(result)")
    }

    @Test(arguments: ["yes", "no", ""])
    func `a person is asked, and only yes is yes`(answer: String) throws {
        let folder = try Folder()
        let server = try LabServer(in: folder)
        let path = folder.url.path + "/proxy.conf"
        try Data("store sqlite \(folder.url.path)/credentials.db\n".utf8).write(to: URL(filePath: path))
        let session = try TerminalSession(
            ["trust", server.address, "--accept", "--until", "2100-01-01", "--config", path])
        #expect(session.awaits("until 2100-01-01? (yes or no) "))
        session.type(answer + "\n")
        let (text, status) = session.finish()
        #expect(status == (answer == "yes" ? 0 : 1), "\(text)")
        #expect(text.contains(answer == "yes" ? "This key is trusted until" : "attache: nothing was stored"), "\(text)")
        #expect(FileManager.default.fileExists(atPath: folder.url.path + "/credentials.db") == (answer == "yes"))
    }
}
