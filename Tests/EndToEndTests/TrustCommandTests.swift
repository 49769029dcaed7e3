import Foundation
import Testing

/// `attache trust` says of each server of the zoo what the proxy decides.
struct TrustCommandTests {
    private func environment() throws -> [String: String] {
        [
            "SSL_CERT_FILE": try Hierarchy.shared().root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
            "CARES_HOSTS": HostsFile.path,
        ]
    }

    @Test func `it finds what the proxy finds, and names the pin`() throws {
        let (zoo, environment) = try (Zoo.shared(), environment())
        for specimen in Specimen.judged {
            let run = try AttacheBinary.run("trust", zoo.authority(of: specimen), environment: environment)
            #expect(run.status == (specimen.findings.isEmpty ? 0 : 1), "\(specimen.name): \(run)")
            #expect(run.output.contains(try zoo.identity(of: specimen).leaf.pin()), "\(specimen.name): \(run)")
            let found = TrustVerdict.words.filter { run.output.contains("  \($0): ") }
            #expect(found.sorted() == specimen.findings, "\(specimen.name): \(run)")
        }
    }

    @Test func `the lines it offers, before the rules, make the proxy trust`() throws {
        let (zoo, environment) = try (Zoo.shared(), environment())
        let refused = Specimen.mixtures + Specimen.weaknesses
        let offered = try refused.map { specimen in
            let run = try AttacheBinary.run("trust", zoo.authority(of: specimen), environment: environment)
            let lines = run.output.split(separator: "\n").drop { !$0.hasPrefix("challenge") }
            return lines.joined(separator: "\n") + "\n"
        }
        try AttacheProcess.visitingZoo(offered.joined()) { proxy throws in
            for specimen in refused {
                try TrustVerdict.of(specimen, by: .upgraded, through: proxy).expectTrusted(specimen, .upgraded)
            }
        }
    }

    @Test(arguments: ["tls10", "nowhere"])
    func `a server that cannot be asked is one sentence`(name: String) throws {
        let zoo = try Zoo.shared()
        let place = name == "nowhere" ? "nowhere.example.test:1" : try zoo.authority(of: Specimen[name])
        let run = try AttacheBinary.run("trust", place, environment: environment())
        #expect(run.status == 1)
        #expect(run.errorOutput.hasPrefix("attache: "), "\(run)")
        #expect(run.errorOutput.split(separator: "\n").count == 1, "\(run)")
    }
}
