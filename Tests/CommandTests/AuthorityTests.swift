import Foundation
import Testing

struct AuthorityTests {
    private func folder() throws -> Folder { try Folder(["proxy.conf": "state state\n"]) }

    @Test(arguments: [
        ("", "openssl x509 -in ca"), ("--format der", "openssl x509 -inform der -in ca"),
        ("--format p12-truststore", "openssl pkcs12 -in ca -passin pass:changeit -nokeys | openssl x509"),
    ])
    func `each format is the same certificate`(option: String, reading: String) throws {
        let result = try AttacheProgram.run(
            """
            attache authority export --output ca \(option) && \(reading) -outform pem > seen.pem \
            && cmp seen.pem state/ca.pem && stat -c %a ca
            """, in: folder())
        #expect(result.status == 0)
        #expect(result.output == "644\n")
        #expect(result.errorOutput == "")
    }

    @Test func `Java takes the truststore's certificate for a trusted one`() throws {
        let result = try AttacheProgram.run(
            """
            attache authority export --format p12-truststore > ca.p12 && openssl asn1parse -inform der -in ca.p12 \
            > /dev/null && openssl pkcs12 -in ca.p12 -passin pass:changeit -nokeys
            """, in: folder())
        #expect(result.output.contains("2.16.840.1.113894.746875.1.1"), "\(result)")
        #expect(result.output.contains("friendlyName: attache"))
    }

    @Test func `a renewed authority has another key, and the old certificate is kept`() throws {
        let result = try AttacheProgram.run(
            """
            attache authority export > old.pem && cp state/ca.key old.key && attache authority renew \
            && cmp old.pem state/ca.old.pem && ! cmp -s old.key state/ca.key && stat -c %a state/ca.key \
            && attache authority export | cmp - state/ca.pem
            """, in: folder())
        #expect(result.status == 0)
        let pattern = /new CA: CN=attache on \S+ \d{4}-\d\d-\d\d [0-9a-f]{8}, valid until \d{4}-\d\d-\d\d\n600\n/
        #expect(result.output.wholeMatch(of: pattern) != nil, "\(result.output)")
        #expect(
            result.errorOutput == "attache: a running proxy uses it at once; its clients must trust it: "
                + "attache authority export\n")
    }

    @Test func `the rule file's names bind the authority`() throws {
        let folder = try Folder(["proxy.conf": "state state; authority { names *.corp.example 10.0.0.0/8 }\n"])
        let result = try AttacheProgram.run(
            "attache authority export | openssl x509 -noout -ext nameConstraints", in: folder)
        #expect(
            result.output == """
                X509v3 Name Constraints: critical
                    Permitted:
                      DNS:.corp.example
                      IP:10.0.0.0/255.0.0.0
                    Excluded:
                      IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0

                """)
    }

    @Test func `a person at a terminal is told what to do with it`() throws {
        let folder = try folder()
        let path = folder.url.appending(path: "proxy.conf").path
        let session = try TerminalSession(["authority", "export", "--config", path])
        let (text, status) = session.finish()
        #expect(status == 0)
        for word in ["BEGIN CERTIFICATE", "NODE_EXTRA_CA_CERTS=attache-ca.pem", "SSL_CERT_FILE=bundle.pem", "keytool"] {
            #expect(text.contains(word), "\(word)")
        }
        let binary = try TerminalSession(["authority", "export", "--format", "der", "--config", path])
        let (complaint, refusal) = binary.finish()
        #expect(refusal == 1)
        #expect(complaint == "attache: der cannot go to a terminal: use --output FILE\r\n")
    }
}
