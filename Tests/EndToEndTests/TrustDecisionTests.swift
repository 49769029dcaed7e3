import Foundation
import TestSupport
import Testing

/// The proxy's decision about each server of the zoo, by each way in.
struct TrustDecisionTests {
    @Test(arguments: Entrance.allCases)
    func `without a rule exactly what has no finding is trusted`(entrance: Entrance) throws {
        try AttacheProcess.visitingZoo { proxy throws in
            for specimen in Specimen.judged {
                let verdict = try TrustVerdict.of(specimen, by: entrance, through: proxy)
                #expect(verdict.findings == specimen.findings, "\(specimen.name): \(verdict)")
                if specimen.findings.isEmpty {
                    verdict.expectTrusted(specimen, entrance)
                } else {
                    verdict.expectRefused(specimen, entrance)
                }
            }
        }
    }

    @Test func `nothing of a refused server's reaches the client, and nothing of the client's reaches it`() throws {
        let mark = ApacheServer.mark()
        try AttacheProcess.visitingZoo { proxy throws in
            for entrance in Entrance.allCases {
                let answered = try proxy.visit(Specimen["expired"], "/?\(mark)", by: entrance, "-H", "X-Token: \(mark)")
                #expect(answered.status == 502)
                #expect(!answered.text.contains("this is"))
            }
            #expect(try proxy.visit(Specimen["good"], "/?\(mark)", by: .upgraded).status == 200)
            #expect(try Zoo.shared().server.entries(marked: mark).map(\.serverName) == [Specimen["good"].host])
        }
    }

    @Test(arguments: Entrance.allCases)
    func `the lines of the explanation, pasted, let the next request pass`(entrance: Entrance) throws {
        let refused = Specimen.judged.filter { !$0.findings.isEmpty }
        try AttacheProcess.visitingZoo { proxy throws in
            var offered = ""
            for specimen in refused {
                let verdict = try TrustVerdict.of(specimen, by: entrance, through: proxy)
                #expect(!verdict.offeredRule.isEmpty, "\(specimen.name): \(verdict)")
                offered += verdict.offeredRule + "\n"
            }
            try proxy.reload(offered + AttacheProcess.routesToZoo)
            let expired = try Specimen["expired"]
            let isApplied = try Wait.until { try proxy.visit(expired, by: entrance).status == 200 }
            #expect(isApplied, "\(proxy.errorOutput)")
            for specimen in refused {
                let verdict = try TrustVerdict.of(specimen, by: entrance, through: proxy)
                verdict.expectTrusted(specimen, entrance)
                #expect(verdict.findings == specimen.findings, "\(specimen.name): \(verdict)")
                #expect(verdict.rule != nil, "\(specimen.name): \(verdict)")
            }
        }
    }

    @Test func `a list that says nothing of an issuer lets its certificates pass, with one warning`() throws {
        let hierarchy = try Zoo.shared().hierarchy
        let list = try hierarchy.root.revocationList()
        let good = try Specimen["good"]
        try AttacheProcess.visitingZoo("route *.example.test { upgrade; intercept; tls revocation \(list) }") {
            proxy throws in
            for _ in 1...3 { #expect(try proxy.visit(good, by: .upgraded).status == 200) }
            #expect(proxy.awaitErrorOutput("no revocation list of"))
            #expect(proxy.awaitErrorOutput("counts as not revoked"))
            let run = try AttacheBinary.run(
                "trust", "--config", proxy.folder + "/proxy.conf", Zoo.shared().authority(of: good),
                environment: [
                    "SSL_CERT_FILE": hierarchy.root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
                    "CARES_HOSTS": HostsFile.path,
                ])
            #expect(run.output.contains("No revocation list of the route is for CN="), "\(run)")
            #expect(proxy.errorOutput.split(separator: "\n").filter { $0.contains("no revocation list of") }.count == 1)
        }
    }

    @Test func `a root that is not known makes no list say that anything is revoked`() throws {
        let hierarchy = try Zoo.shared().hierarchy
        let list = try IssuedCertificate.bundle([hierarchy.issuing.revocationList(), hierarchy.root.revocationList()])
        var setting = AttacheProcess.Setting(threads: 1)
        setting.environment = [
            "SSL_CERT_FILE": hierarchy.elsewhere.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
            "CARES_HOSTS": HostsFile.path,
        ]
        try AttacheProcess.running("route *.example.test { upgrade; tls revocation \(list) }", setting: setting) {
            proxy throws in
            let refused = try proxy.visit(Specimen["good"], by: .upgraded)
            #expect(refused.status == 502)
            #expect(refused.text.contains("allow  incomplete-chain"), "\(refused)")
            #expect(!refused.text.contains("revoked"), "\(refused)")
        }
    }

    @Test func `no rule is suggested that forgives a doubt`() throws {
        let hierarchy = try Zoo.shared().hierarchy
        let text = Scratch.read(try hierarchy.issuing.revocationList())
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        var list = try #require(Data(base64Encoded: lines.joined()))
        // The signature's last byte.
        list[list.count - 1] ^= 1
        let path = Scratch.folder("doubt") + "/bad.crl"
        try list.write(to: URL(fileURLWithPath: path))
        let (good, expired) = try (Specimen["good"], Specimen["expired"])
        try AttacheProcess.visitingZoo("route *.example.test { upgrade; tls revocation \(path) }") { proxy throws in
            let doubted = try proxy.visit(good, by: .upgraded)
            #expect(doubted.status == 502)
            #expect(doubted.text.contains("revoked: "), "\(doubted)")
            #expect(doubted.text.contains("It is unknown whether a certificate is revoked"), "\(doubted)")
            #expect(!doubted.text.contains("challenge"), "\(doubted)")
            let both = try proxy.visit(expired, by: .upgraded)
            #expect(both.text.contains("allow  expired\n"), "\(both)")
            let run = try AttacheBinary.run(
                "trust", "--config", proxy.folder + "/proxy.conf", Zoo.shared().authority(of: good),
                environment: [
                    "SSL_CERT_FILE": hierarchy.root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
                    "CARES_HOSTS": HostsFile.path,
                ])
            #expect(run.output.contains("It is unknown whether a certificate is revoked"), "\(run)")
            #expect(!run.output.contains("challenge"), "\(run)")
        }
    }

    @Test func `a list of the route finds what was revoked`() throws {
        let hierarchy = try Zoo.shared().hierarchy
        let list = try IssuedCertificate.bundle([hierarchy.issuing.revocationList(), hierarchy.root.revocationList()])
        let routes = "route *.example.test { upgrade; intercept; tls revocation \(list) }"
        let (good, revoked) = try (Specimen["good"], Specimen["revoked"])
        try AttacheProcess.visitingZoo(routes) { proxy throws in
            for entrance in Entrance.allCases {
                try TrustVerdict.of(good, by: entrance, through: proxy).expectTrusted(good, entrance)
                let verdict = try TrustVerdict.of(revoked, by: entrance, through: proxy)
                verdict.expectRefused(revoked, entrance, for: ["revoked"])
                #expect(verdict.findings == ["revoked"])
            }
        }
    }
}
