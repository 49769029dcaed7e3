import Foundation
import Testing

struct TrustTests {
    private func run(_ lines: String, rules: String = "") throws -> CommandResult {
        try LabServer.run(lines, rules: rules)
    }

    @Test func `a server that is not trusted is shown with the lines that would trust it`() throws {
        let result = try run(
            "attache trust $server; echo status $?; echo $pin; openssl x509 -in cert.pem -noout -fingerprint -sha256")
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let pin = try #require(lines.first { $0.hasPrefix("sha256/") })
        #expect(lines.prefix(3) == ["The server sends one certificate:", "", "  1  CN=lab appliance"])
        #expect(lines.contains("     names     lab.example 127.0.0.1"))
        #expect(lines.contains("     key pin   \(pin)"))
        let fingerprint = try #require(lines.first { $0.hasPrefix("sha256 Fingerprint=") }).dropFirst(19)
        #expect(lines.contains("     SHA-256   \(fingerprint)"))
        #expect(lines.contains { $0.hasPrefix("  self-signed: ") })
        #expect(lines.contains("not trusted: self-signed"))
        #expect(lines.contains("    allow  self-signed"))
        #expect(lines.contains("    pin    \(pin)"))
        #expect(lines.contains("status 1"))
        #expect(result.errorOutput == "")
    }

    @Test func `the lines, pasted, are what trusts it, and no other server`() throws {
        let result = try run(
            """
            attache trust $server | sed -n '/^challenge/,$p' >> proxy.conf
            attache check && attache trust $server | tail -1; attache trust $server > /dev/null; echo $?
            attache trust --name other.example $server | grep '^not'
            """)
        #expect(
            result.output.wholeMatch(
                of:
                    /trusted by rule "127\.0\.0\.1:\d+, its certificate" \(\.\/proxy\.conf:\d+\), which forgives self-signed\n0\nnot trusted: .*wrong-name.*\n/
            )
                != nil, "\(result)")
    }

    @Test(arguments: [
        ("allow self-signed; pin PIN; trust", "trusted by rule \"lab\" (./proxy.conf:1), which forgives self-signed"),
        ("anchor cert.pem; trust", "trusted by rule \"lab\" (./proxy.conf:1): the chain leads to CN=lab appliance"),
        ("allow expired; trust", "not trusted: self-signed, which rule \"lab\" (./proxy.conf:1) does not forgive"),
        (
            "allow self-signed; pin sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; trust",
            "not trusted: its key is not one of the pins of rule \"lab\" (./proxy.conf:1)"
        ),
        ("cancel", "not trusted: rule \"lab\" (./proxy.conf:1) refuses it"),
    ])
    func `a rule decides as it would in the proxy`(answer: String, sentence: String) throws {
        let rules = "challenge \"lab\" { host 127.0.0.1; port PORT; method server-trust; \(answer) }\n"
        let result = try run("attache trust $server | grep trusted", rules: rules)
        #expect(result.output.split(separator: "\n").first.map(String.init) == sentence, "\(result)")
    }

    @Test func `findings on a rule's own terms are told too`() throws {
        let rules =
            "challenge \"lab\" { host 127.0.0.1; method server-trust; anchor cert.pem; name other.example; trust }\n"
        let result = try run("attache trust $server", rules: rules)
        #expect(
            result.output.contains(
                "Problems with the roots and the name of rule \"lab\" (./proxy.conf:1):\n\n  wrong-name: "))
        #expect(
            result.output.contains("\nnot trusted: wrong-name, which rule \"lab\" (./proxy.conf:1) does not forgive\n"))
    }

    @Test func `a server that speaks no TLS shows nothing`() throws {
        let server = try StubServer(answer: "HTTP/1.1 400 Bad Request\r\n\r\n")
        let result = try AttacheProgram.run("attache trust 127.0.0.1:\(server.port)", in: Folder())
        #expect(result.status == 1)
        #expect(result.errorOutput.hasPrefix("attache: 127.0.0.1 port \(server.port) showed no certificate: "))
    }
}
