import Foundation
import TestSupport
import Testing

/// Stored exceptions for servers' keys, in a proxy that runs.
struct TrustExceptionTests {
    private static let store = "store sqlite @/kept.db\n"
    private static let until = "2100-01-01"

    private func attache(_ words: [String], of proxy: AttacheProcess) throws -> Finished {
        try Finished.run(
            AttacheBinary.path, words + ["--config", "proxy.conf"],
            environment: [
                "SSL_CERT_FILE": Hierarchy.shared().root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
                "CARES_HOSTS": HostsFile.path,
            ], directory: proxy.folder, seconds: 30)
    }

    private func accept(_ server: String, of proxy: AttacheProcess) throws -> Finished {
        try attache(["trust", server, "--accept", "--until", Self.until, "--yes"], of: proxy)
    }

    /// Takes the exception back by the command that was printed with it.
    private func takeBack(_ accepted: Finished, of proxy: AttacheProcess) throws {
        let line = try #require(accepted.output.split(separator: "\n").last)
        let words = line.split(separator: " ").dropFirst().map(String.init)
        let run = try attache(words, of: proxy)
        #expect(run.succeeded, "\(run)")
    }

    private static let faulty = Specimen.judged.filter { !$0.findings.isEmpty }

    @Test func `whatever was found but a revocation passes for that server, and for no other`() throws {
        try AttacheProcess.visitingZoo(Self.store) { proxy throws in
            let revoked = Self.faulty.filter { $0.findings.contains("revoked") }
            #expect(!revoked.isEmpty)
            for specimen in Self.faulty.dropLast() {
                let run = try accept(Zoo.shared().authority(of: specimen), of: proxy)
                #expect(run.succeeded == !specimen.findings.contains("revoked"), "\(specimen.name): \(run)")
            }
            for entrance in Entrance.allCases {
                for specimen in Self.faulty {
                    let isTrusted = specimen.name != Self.faulty.last?.name && !specimen.findings.contains("revoked")
                    let expected = isTrusted ? 200 : 502
                    let isThere = try Wait.until { try proxy.visit(specimen, by: entrance).status == expected }
                    #expect(isThere, "\(specimen.name) by \(entrance)")
                }
            }
            let mark = ApacheServer.mark()
            #expect(try proxy.visit(Specimen["expired"], "/?\(mark)", by: .upgraded).status == 200)
            let record = try #require(try proxy.record(marked: mark))
            #expect(
                record["trust_exception"] == "1" && record["trust_findings"] == "expired", "\(record.line)")
        }
    }

    @Test(arguments: Entrance.allCases)
    func `an exception that is taken back holds for no kept connection and no session`(entrance: Entrance) throws {
        let expired = try Specimen["expired"]
        try AttacheProcess.visitingZoo(Self.store) { proxy throws in
            #expect(try proxy.visit(expired, by: entrance).status == 502)
            let accepted = try accept(Zoo.shared().authority(of: expired), of: proxy)
            #expect(try Wait.until { try proxy.visit(expired, by: entrance).status == 200 }, "\(accepted)")
            #expect(try proxy.visit(expired, by: entrance).status == 200)
            try takeBack(accepted, of: proxy)
            #expect(try Wait.until { try proxy.visit(expired, by: entrance).status == 502 })
            for _ in 1...3 { #expect(try proxy.visit(expired, by: entrance).status == 502) }
        }
    }

    @Test func `a rule that refuses has the last word over an exception`() throws {
        let expired = try Specimen["expired"]
        try AttacheProcess.visitingZoo(Self.store) { proxy throws in
            _ = try accept(Zoo.shared().authority(of: expired), of: proxy)
            #expect(try Wait.until { try proxy.visit(expired, by: .upgraded).status == 200 })
            let rule = "challenge { host \(expired.host); method server-trust; reject }\n"
            try proxy.reload(Self.store.replacing("@", with: proxy.folder) + rule + AttacheProcess.routesToZoo)
            #expect(try Wait.until { try proxy.visit(expired, by: .upgraded).status == 502 })
        }
    }

    @Test func `a parent that speaks TLS is excepted by its address`() throws {
        let expired = try Specimen["expired"]
        let rules =
            Self.store + """
                parent zoo { https \(try Zoo.shared().authority(of: expired)) }
                route parent.example.test { via zoo }

                """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let url = "http://parent.example.test/"
            #expect(try proxy.get(url).status == 502)
            let accepted = try accept(Zoo.shared().authority(of: expired), of: proxy)
            #expect(try Wait.until { try proxy.get(url).status == 200 }, "\(accepted)")
            try takeBack(accepted, of: proxy)
            #expect(try Wait.until { try proxy.get(url).status == 502 })
        }
    }
}
