import Foundation
import Testing

struct ListenerFilesTests {
    /// Checks and runs a rule file whose listener speaks TLS, after lines of shell that make its files.
    private func check(_ lines: String, clients: String = "") throws -> CommandResult {
        let folder = try Folder([
            "proxy.conf": "listen 127.0.0.1:0 tls certificate cert.pem key key.pem\(clients)\n"
        ])
        let make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN=proxy"
        return try AttacheProgram.run(
            """
            make() { \(make) -keyout "$1" -out "$2" 2> /dev/null; }
            make key.pem cert.pem
            \(lines)
            attache check proxy.conf; echo status $?
            """, in: folder
        ).replacing(folder.url.path + "/", with: "")
    }

    private static let before = "attache: cannot listen on 127.0.0.1:0 by TLS: "

    @Test func `files of a listener that fit are met with silence`() throws {
        let result = try check("make ca-key.pem ca.pem", clients: " clients ca.pem required")
        #expect(result.output == "status 0\n")
        #expect(result.errorOutput == "")
    }

    @Test(arguments: [
        ("rm cert.pem", "cert.pem: cannot read the file: no such file or directory"),
        ("rm key.pem", "key.pem: cannot read the file: no such file or directory"),
        ("rm key.pem && mkdir key.pem", "key.pem: cannot read the file: is a directory"),
        ("make key.pem other.pem", "cert.pem with key.pem: the private key does not belong to the certificate"),
        ("echo nothing > cert.pem", "cert.pem with key.pem: there is no certificate in it that can be read"),
        (
            "head -c 100 cert.pem > short.pem && mv short.pem cert.pem",
            "cert.pem with key.pem: certificate 1 in it is damaged"
        ),
    ])
    func `a problem with the files of a listener is one sentence`(lines: String, problem: String) throws {
        let result = try check(lines)
        #expect(result.output == "status 2\n")
        #expect(result.errorOutput == "\(Self.before)\(problem)\n")
    }

    @Test func `the listener's own files and those of its clients are told of together`() throws {
        let result = try check("rm key.pem", clients: " clients ca.pem")
        #expect(result.output == "status 2\n")
        let lines = result.errorOutput.split(separator: "\n")
        #expect(lines.count == 2)
        for (line, file) in zip(lines, ["key.pem", "ca.pem"]) {
            #expect(line == "\(Self.before)\(file): cannot read the file: no such file or directory")
        }
    }
}
