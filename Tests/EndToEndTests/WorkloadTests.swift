import Foundation
import TestSupport
import Testing

/// X.509-SVIDs: workloads as clients (`clients spiffe`), and as servers (`name spiffe://…`).
struct WorkloadTests {
    /// Two trust domains, each with a CA of its own.
    private struct Domains {
        let one: CertificateIssuer
        let two: CertificateIssuer

        init() throws {
            one = try CertificateIssuer(root: "One Root")
            two = try CertificateIssuer(root: "Two Root")
        }
    }

    private func svid(
        _ issuer: CertificateIssuer, _ uris: String..., name: String = "web.one.test",
        purpose: CertificateTerms.Purpose = .client
    ) throws -> IssuedCertificate {
        try issuer.issue(
            CertificateTerms(name: name, purpose: purpose).with {
                // SPIRE gives the first DNS name as the common name.
                $0.alternatives = uris.map { "URI:\($0)" } + ["DNS:\(name)"]
            })
    }

    @Test func `the user is the URI, and only the domain's own certificates vouch for it`() throws {
        let origin = try RecordingOrigin.answering()
        let domains = try Domains()
        let server = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        let chain = try server.chain()
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let listener = """
            listen 127.0.0.1:\(port) tls certificate \(chain) key \(server.key) \
            clients spiffe one.test \(domains.one.certificate) clients spiffe two.test \(domains.two.certificate) required

            """
        try AttacheProcess.running(listener, setting: .init(threads: 1)) { proxy throws in
            let way = [
                "-x", "https://localhost:\(port)", "--proxy-cacert",
                try Hierarchy.shared().root.certificate,
            ]
            let get = { (identity: IssuedCertificate) in
                let options = ["--proxy-cert", identity.certificate, "--proxy-key", identity.key]
                return try Curl.fetch(origin.url(), way + options)
            }
            let workload = "spiffe://one.test/ns/a/sa/web"
            let fetched = try get(svid(domains.one, workload))
            #expect(fetched.text == "ok", "\(fetched)")
            #expect(try get(svid(domains.two, "spiffe://two.test/b", name: "alice")).text == "ok")
            let refused = [
                try svid(domains.two, workload), try svid(domains.one, "spiffe://three.test/a"),
                try svid(domains.one, workload, "spiffe://one.test/b"),
                try svid(domains.one, workload, "https://a.test/"),
                try svid(domains.one), try svid(domains.one, "spiffe://One.test/a"),
                try svid(domains.one, "spiffe://one.test"),
                try svid(domains.one, "spiffe://one.test/"),
                try svid(domains.one, workload, purpose: .authority(pathLength: nil)),
            ]
            for identity in refused { #expect(try get(identity).status != 200) }
            #expect(origin.requests.count == 2)
            let users = try proxy.records(atLeast: 2).filter { $0.status == 200 }.map { $0["user"] }
            #expect(users == [workload, "spiffe://two.test/b"])
        }
    }

    @Test func `a server is trusted as the workload that a rule names`() throws {
        let domains = try Domains()
        let identity = try svid(domains.one, "spiffe://one.test/db", name: "pod-7", purpose: .server)
        let server = try OpenSSLServer(
            ServerIdentity(identity), responses: ["/whole": "HTTP/1.0 200 OK\r\n\r\nfrom the workload\n"])
        for (name, status) in [("spiffe://one.test/db", 200), ("spiffe://one.test/dbs", 502)] {
            let rules = """
                route 127.0.0.1 { upgrade \(server.port) }
                challenge {
                    host 127.0.0.1; method server-trust; name \(name); anchor \(domains.one.certificate) only; trust
                }
                """
            try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
                let fetched = try proxy.get("http://127.0.0.1:\(server.port)/whole")
                #expect(fetched.status == status, "\(fetched) \(proxy.errorOutput)")
            }
        }
    }
}
