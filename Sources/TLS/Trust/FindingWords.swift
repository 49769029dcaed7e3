import COpenSSL

/// Findings in words, each naming its certificate.
enum FindingWords {
    static func wrongName(_ name: ServerName, _ leaf: Certificate) -> String {
        let names = leaf.subjectAlternativeNames
        guard !names.isEmpty else { return "\(leaf) has no alternative names, and its common name does not count" }
        let shown = names.prefix(5).map { "\($0)" }.joined(separator: ", ")
        let more = names.count > 5 ? " and \(names.count - 5) more" : ""
        return "\(leaf) is for \(VisibleText.shortened(shown))\(more), not for \(name)"
    }

    static func weakKey(_ certificate: Certificate) -> String {
        "the key of \(certificate) is weak: \(certificate.keyDescription)"
    }

    static func weakSignature(_ certificate: Certificate) -> String {
        "\(certificate) is signed with \(certificate.signatureAlgorithm)"
    }

    static func missingStaple(_ certificate: Certificate) -> String {
        "\(certificate) demands a stapled OCSP response, and none came"
    }

    static func revoked(_ certificate: Certificate, _ date: Int?, _ reason: String?) -> String {
        let when = date.map { " on \(CertificateTime.date($0))" } ?? ""
        return "\(certificate) was revoked\(when)" + (reason.map { ": \($0)" } ?? "")
    }
}
