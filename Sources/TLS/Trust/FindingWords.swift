import Bytes
import COpenSSL

/// Findings in words, each naming its certificate.
enum FindingWords {
    static func wrongName(_ name: ServerName, _ leaf: Certificate) -> String {
        let names = leaf.subjectAlternativeNames
        guard !names.isEmpty else { return "\(leaf) has no alternative names, and its common name does not count" }
        let shown = names.prefix(5).map(words).joined(separator: ", ")
        let more = names.count > 5 ? " and \(names.count - 5) more" : ""
        return "\(leaf) is for \(VisibleText.shortened(shown))\(more), not for \(words(name))"
    }

    /// A name that looks like an address is none (RFC 9525 section 6.2), and must not read like one.
    private static func words(_ name: SubjectAlternativeName) -> String {
        if case .dns(let host) = name, IPAddress(host) != nil { return "the host name \"\(host)\"" }
        return "\(name)"
    }

    private static func words(_ name: ServerName) -> String {
        if case .address(let address) = name { return "the address \(address)" }
        return "\(name)"
    }

    static func incompleteChain(_ certificate: Certificate) -> String {
        let issuer = VisibleText.shortened(DistinguishedName.text(of: X509_get_issuer_name(certificate.handle)))
        return "the issuer of \(certificate) is neither an anchor nor among what was sent"
            + (issuer.isEmpty ? "" : ": \(issuer)")
    }

    static func weakKey(_ certificate: Certificate) -> String {
        "the key of \(certificate) is weak: \(certificate.keyDescription)"
    }

    static func weakSignature(_ certificate: Certificate) -> String {
        "\(certificate) is signed with \(certificate.signatureAlgorithm)"
    }

    static func unreadableExtension(_ certificate: Certificate) -> String {
        "\(certificate) has an extension that cannot be read or is there twice"
    }

    static func revoked(_ certificate: Certificate, _ date: Int?, _ reason: String?) -> String {
        let when = date.map { " on \(CertificateTime.date($0))" } ?? ""
        return "\(certificate) was revoked\(when)" + (reason.map { ": \($0)" } ?? "")
    }
}
