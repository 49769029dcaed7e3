import Foundation
import Testing

/// The proxy's decision about a server, from the client's response and the log.
struct TrustVerdict: CustomStringConvertible {
    let answered: Fetched
    /// Nil if the exchange was not logged.
    let record: AccessRecord?

    /// The rule file's words for all findings that the evaluation had, in alphabetical order.
    var findings: [String] { (record?["trust_findings"] ?? "").split(separator: " ").map(String.init).sorted() }

    /// The name of the rule that decided.
    var rule: String? { record?["trust_rule"] }

    var description: String { "\(answered)\n\(record?.line ?? "not logged")" }

    /// The rule that the explanation offers to paste; empty if it offers none.
    var offeredRule: String {
        let lines = answered.text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(where: { $0.contains("challenge") && $0.contains("{") }) else { return "" }
        guard let last = lines[first...].firstIndex(where: { $0.contains("}") }) else { return "" }
        return lines[first...last].joined(separator: "\n")
    }

    static func of(
        _ specimen: Specimen, by entrance: Entrance, through proxy: AttacheProcess, _ options: String...
    ) throws -> TrustVerdict {
        let mark = ApacheServer.mark()
        let authority = try Zoo.shared().authority(of: specimen)
        let answered = try proxy.visit(authority, "/?\(mark)", by: entrance, options)
        return TrustVerdict(answered: answered, record: try proxy.record(marked: mark))
    }

    func expectTrusted(_ specimen: Specimen, _ entrance: Entrance, location: SourceLocation = #_sourceLocation) {
        #expect(
            answered.status == 200 && answered.text == "this is \(specimen.name)\n",
            "\(specimen.name), \(entrance): \(self)", sourceLocation: location)
    }

    /// A 502 that says so to programs and to people, and names these findings as the reason.
    /// - Parameter reasons: the findings that were not forgiven; those of the specimen if left out.
    func expectRefused(
        _ specimen: Specimen, _ entrance: Entrance, for reasons: [String]? = nil,
        location: SourceLocation = #_sourceLocation
    ) {
        let place = "\(specimen.name), \(entrance): \(self)"
        #expect(answered.status == 502, "\(place)", sourceLocation: location)
        let status = answered["Proxy-Status"] ?? ""
        #expect(status.contains("error=tls_certificate_error"), "\(place)", sourceLocation: location)
        #expect(answered["Content-Type"]?.hasPrefix("text/plain") == true, "\(place)", sourceLocation: location)
        #expect(record?["error"] == "tls_certificate_error", "\(place)", sourceLocation: location)
        #expect(answered.text.contains(specimen.host), "\(place)", sourceLocation: location)
        for reason in reasons ?? specimen.findings {
            #expect(status.contains(reason), "\(reason) is not named: \(place)", sourceLocation: location)
        }
        let forgiven = Set(Self.words).subtracting(reasons ?? specimen.findings)
        for word in forgiven {
            #expect(!status.contains(word), "\(word) is named: \(place)", sourceLocation: location)
        }
    }

    /// Every finding of the rule file.
    static let words = [
        "unknown-issuer", "self-signed", "incomplete-chain", "expired", "not-yet-valid", "wrong-name", "revoked",
        "missing-staple", "weak-key", "weak-signature", "wrong-usage", "name-constraints", "path-length",
        "unknown-extension", "invalid",
    ]
}
