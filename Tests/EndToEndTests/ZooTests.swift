import Foundation
import Testing

/// The zoo itself, without the proxy: each specimen shows what it says, judged by curl and `openssl`.
struct ZooTests {
    /// curl with the name at loopback, trusting the root of the zoo.
    private func fetch(_ specimen: Specimen, _ options: [String] = [], path: String = "/") throws -> Fetched {
        let zoo = try Zoo.shared()
        let place = "\(specimen.host):\(zoo.port(of: specimen)):127.0.0.1"
        let trusting = ["--cacert", zoo.hierarchy.root.certificate, "--resolve", place]
        return try Curl.fetch(zoo.url(specimen, path), trusting + options)
    }

    /// Why curl refuses a specimen; nil where it is more lenient than the RFCs are.
    private static let complaints: [String: String?] = [
        "self-signed": "self-signed certificate", "unknown-issuer": "self-signed certificate in certificate chain",
        "incomplete-chain": "unable to get local issuer certificate", "path-length": "path length constraint exceeded",
        "name-constraints": "permitted subtree violation", "invalid": "asn1 encoding routines",
        "expired": "certificate has expired", "not-yet-valid": "certificate is not yet valid",
        "expired-issuer": "certificate has expired", "wrong-name": "no alternative certificate subject name matches",
        "wildcard-depth": "no alternative certificate subject name matches", "common-name-only": nil,
        "address-as-name": "no alternative certificate subject name matches",
        "weak-signature": "CA signature digest algorithm too weak", "weak-key": "EE certificate key too weak",
        "wrong-usage": "unsuitable certificate purpose", "unknown-extension": "unhandled critical extension",
        "expired-wrong-name": "certificate has expired", "expired-self-signed": "self-signed certificate",
        "wrong-name-self-signed": "self-signed certificate",
        "revoked-stapled": nil, "missing-staple": nil, "staple-of-a-stranger": nil, "staple-of-another": nil,
    ]

    @Test func `curl trusts what has no finding`() throws {
        for specimen in Specimen.judged where specimen.findings.isEmpty {
            let answered = try fetch(specimen)
            #expect(answered.text == "this is \(specimen.name)\n", "\(specimen.name): \(answered)")
        }
    }

    @Test func `curl refuses what has a finding, and takes it unverified`() throws {
        for specimen in Specimen.judged where !specimen.findings.isEmpty {
            let answered = try fetch(specimen)
            if let complaint = Self.complaints[specimen.name, default: "no complaint is listed"] {
                #expect(answered.run.status != 0, "\(specimen.name) is trusted")
                #expect(answered.run.errorOutput.contains(complaint), "\(specimen.name): \(answered.run.errorOutput)")
            } else {
                #expect(answered.status == 200, "\(specimen.name): \(answered)")
            }
            let lenient = try fetch(specimen, ["--insecure", "--ciphers", "DEFAULT:@SECLEVEL=0"])
            #expect(lenient.text == "this is \(specimen.name)\n", "\(specimen.name): \(lenient)")
        }
    }

    @Test(arguments: [
        ("stapled", nil), ("must-staple", nil), ("revoked-stapled", "keyCompromise"),
        ("staple-of-a-stranger", "OCSP response verification failed"), ("missing-staple", "No OCSP response received"),
        ("staple-of-another", "Could not find certificate ID"),
    ])
    func `staples say what they should`(name: String, complaint: String?) throws {
        let answered = try fetch(Specimen[name], ["--cert-status"])
        #expect((answered.run.status == 0) == (complaint == nil), "\(answered)")
        if let complaint { #expect(answered.run.errorOutput.contains(complaint), "\(answered.run.errorOutput)") }
    }

    @Test func `the revocation list names what was revoked`() throws {
        let hierarchy = try Zoo.shared().hierarchy
        let list = try IssuedCertificate.bundle([hierarchy.issuing.revocationList(), hierarchy.root.revocationList()])
        #expect(try fetch(Specimen["good"], ["--crlfile", list]).status == 200)
        let refused = try fetch(Specimen["revoked"], ["--crlfile", list])
        #expect(refused.run.errorOutput.contains("certificate revoked"), "\(refused)")
    }

    @Test(arguments: [("tls12", "--tlsv1.3"), ("tls13", "--tls-max 1.2")])
    func `each speaks only its version`(name: String, option: String) throws {
        let specimen = try Specimen[name]
        #expect(try fetch(specimen).status == 200)
        #expect(try fetch(specimen, option.split(separator: " ").map(String.init)).run.status != 0)
    }

    @Test func `the large chain is larger than a record`() throws {
        let large = try Zoo.shared().identity(of: Specimen["large-chain"])
        #expect(Scratch.bytes(large.chain).count > 16_384 * 4 / 3)
    }

    @Test func `the log tells connections and resumed sessions`() throws {
        let mark = ApacheServer.mark()
        let good = try Specimen["good"]
        #expect(
            try fetch(good, ["-o", "/dev/null", try Zoo.shared().url(good, "/?\(mark)")], path: "/?\(mark)").status
                == 200)
        let entries = try Zoo.shared().server.entries(marked: mark, atLeast: 2)
        #expect(entries.count == 2)
        #expect(Set(entries.map(\.connection)).count == 1)
        #expect(entries.allSatisfy { $0.serverName == good.host && $0.version == "TLSv1.3" && !$0.isResumed })
    }
}
