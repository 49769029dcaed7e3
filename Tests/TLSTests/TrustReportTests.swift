import Model
import Testing

@testable import TLS

@Suite struct TrustReportTests {
    @Test func `A report shows each certificate of the path and what was found`() throws {
        let scene = TrustCase.chain(
            leaf: {
                $0.ends = -1
                $0.subject = "CN=\u{1B}[31mred"
                $0["subjectAltName"] = (0..<25).map { "DNS:n\($0).test" }.joined(separator: ",")
            }, name: "n3.test")
        let report = TrustReport(try scene.evaluated()).description
        let lines = report.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines[0] == "certificate")
        #expect(lines[1] == "  subject    CN=\\1B[31mred")
        #expect(lines[2] == "  issuer     CN=Issuing,O=Test")
        #expect(lines[3].hasPrefix("  names      n0.test, n1.test, ") && lines[3].hasSuffix("n19.test and 5 more"))
        #expect(lines[4] == "  valid      2027-01-05 to 2027-01-14")
        #expect(lines[5] == "  key        EC of 256 bits (prime256v1)")
        #expect(lines[6] == "  signature  ecdsa-with-SHA256")
        #expect(lines[7] == "  pin        \(scene.leaf.certificate.publicKeyPin)")
        #expect(
            lines.filter { ["certificate", "issuer", "anchor"].contains($0) } == ["certificate", "issuer", "anchor"])
        #expect(report.hasSuffix("\nfound for n3.test\n  expired: CN=\\1B[31mred expired on 2027-01-14\n"))
    }

    @Test func `A report of a chain without a finding says so`() throws {
        let report = TrustReport(try TrustCase.chain().evaluated()).description
        #expect(report.hasSuffix("\n\ntrusted for www.example.test\n"))
    }
}
