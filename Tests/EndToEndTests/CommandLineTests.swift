import Foundation
import Testing

/// The commands that end by themselves.
struct CommandLineTests {
    private func write(_ text: String) throws -> String {
        let path = Scratch.folder("rules") + "/proxy.conf"
        try Scratch.write(text, to: path)
        return path
    }

    @Test func `version is one line`() throws {
        for arguments in ["version", "--version"] {
            let run = try AttacheBinary.run(arguments)
            #expect(run.succeeded)
            #expect(run.output.hasPrefix("attache "))
            #expect(run.output.split(separator: "\n").count == 1)
        }
    }

    @Test func `version names the library of HTTP/2 on request`() throws {
        let run = try AttacheBinary.run("version", "--verbose")
        #expect(run.output.split(separator: "\n").last?.hasPrefix("libnghttp2 1.") == true, "\(run)")
    }

    @Test(arguments: [nil, "run", "check", "explain", "password", "healthcheck", "version"])
    func `help goes to standard output`(command: String?) throws {
        let run = try Finished.run(AttacheBinary.path, [command, "--help"].compactMap(\.self), seconds: 20)
        #expect(run.status == 0)
        #expect(run.errorOutput == "")
        #expect(run.output.contains("attache" + (command.map { " \($0)" } ?? "")))
        #expect(run.output.split(separator: "\n", omittingEmptySubsequences: false).allSatisfy { $0.count <= 100 })
    }

    @Test(arguments: [
        ["runn"], ["run", "--confg", "x"], ["run", "--config"], ["check"], ["explain", "x"], ["version", "extra"],
    ])
    func `wrong usage is one complaint and exit 2`(arguments: [String]) throws {
        let run = try Finished.run(AttacheBinary.path, arguments, seconds: 20)
        #expect(run.status == 2, "\(run)")
        #expect(run.output == "")
        #expect(run.errorOutput.hasPrefix("attache: "))
    }

    @Test func `a preloaded library that sets a variable costs no argument`() throws {
        let folder = Scratch.folder("preload")
        try Scratch.write(
            "#include <stdlib.h>\n__attribute__((constructor)) static void set(void) { setenv(\"SET\", \"1\", 1); }\n",
            to: folder + "/set.c")
        let made = try Finished.run("cc", ["-shared", "-fPIC", "-o", folder + "/set.so", folder + "/set.c"])
        #expect(made.succeeded, "\(made)")
        let run = try AttacheBinary.run("version", environment: ["LD_PRELOAD": folder + "/set.so"])
        #expect(run.succeeded, "\(run)")
        #expect(run.output.hasPrefix("attache "))
    }

    @Test func `check is silent about a good file`() throws {
        let path = try write("listen 127.0.0.1:3128\nroute a.test { deny }\n")
        let run = try AttacheBinary.run("check", path)
        #expect(run.succeeded, "\(run)")
        #expect(run.errorOutput == "")
    }

    @Test func `explain tells route, rule and why earlier rules did not match`() throws {
        let path = try write(
            """
            listen 127.0.0.1:3128
            credential ci { user builder; password env NOT_SET }
            route blocked.test { deny }
            challenge "elsewhere" { host other.test; use ci }
            challenge "build server" { host ci.test; method digest; use ci }

            """)
        let digest = ["--challenge", "Digest realm=\"Jenkins\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"]
        let run = try Finished.run(AttacheBinary.path, ["explain", path, "GET", "http://ci.test/job"] + digest)
        #expect(run.succeeded, "\(run)")
        for expected in ["build server", "ci", "elsewhere"] { #expect(run.output.contains(expected), "\(run)") }
        let denied = try AttacheBinary.run("explain", path, "GET", "http://blocked.test/")
        #expect(denied.output.contains("deny") || denied.output.contains("denied"), "\(denied)")
    }

    @Test func `password asks for a line and prints one for the users file`() throws {
        let path = Scratch.folder("password") + "/word"
        try Scratch.write(Account.clientPassword + "\n", to: path)
        let lines = try (1...2).map { _ in try AttacheBinary.run("password", "erin", input: path).output }
        #expect(lines.allSatisfy { $0.hasPrefix("erin:$") && !$0.contains(Account.clientPassword) })
        #expect(lines[0] != lines[1], "the salt is always the same")
    }
}
