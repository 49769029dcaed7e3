import Foundation
import Testing

/// What the proxy decides about each server of the zoo, by each way in.
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
