import Foundation

/// The content of a certificate of the tests.
struct CertificateTerms: Sendable {
    enum Key: Sendable {
        case p256
        case rsa(bits: Int)
        /// RSA of 2048 bits with a public exponent of 249 bits, the longest that OpenSSL makes.
        case longExponent

        var options: [String] {
            switch self {
            case .p256: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
            case .rsa(let bits): ["-newkey", "rsa:\(bits)"]
            case .longExponent:
                ["-newkey", "rsa:2048", "-pkeyopt", "rsa_keygen_pubexp:0x1" + String(repeating: "0", count: 60) + "F1"]
            }
        }
    }

    enum Purpose: Sendable {
        case server, client
        case authority(pathLength: Int?)
    }

    /// The common name.
    var name: String
    /// Subject alternative names: `DNS:…`, `IP:…`.
    var alternatives: [String] = []
    var purpose: Purpose = .server
    /// First and last day, counted from today.
    var days = -2...60
    var key: Key = .p256
    var digest = "sha256"
    /// Lines of an extension section, besides those which the purpose asks for. A line replaces the one of its name.
    var extensions: [String] = []

    /// A server's certificate for this host.
    init(host: String) {
        name = host
        alternatives = ["DNS:" + host]
    }

    init(name: String, purpose: Purpose) {
        self.name = name
        self.purpose = purpose
    }

    func with(_ change: (inout Self) -> Void) -> Self {
        var changed = self
        change(&changed)
        return changed
    }

    /// The section of `openssl ca -extfile`.
    var extensionLines: String {
        var lines: [String]
        switch purpose {
        case .server, .client:
            let usage = if case .rsa = key { "digitalSignature,keyEncipherment" } else { "digitalSignature" }
            let extended = if case .client = purpose { "clientAuth" } else { "serverAuth" }
            lines = [
                "basicConstraints = critical,CA:FALSE", "keyUsage = critical,\(usage)",
                "extendedKeyUsage = \(extended)",
            ]
        case .authority(let length):
            lines = [
                "basicConstraints = critical,CA:TRUE" + (length.map { ",pathlen:\($0)" } ?? ""),
                "keyUsage = critical,keyCertSign,cRLSign,digitalSignature",
            ]
        }
        lines.append("subjectKeyIdentifier = hash")
        if !alternatives.isEmpty { lines.append("subjectAltName = " + alternatives.joined(separator: ",")) }
        let name = { (line: String) in line.prefix { $0 != " " } }
        lines.removeAll { line in extensions.contains { name($0) == name(line) } }
        return (lines + extensions).joined(separator: "\n") + "\n"
    }

    /// The dates of `openssl ca`.
    var dateOptions: [String] {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "UTC")
        format.dateFormat = "yyyyMMddHHmmss'Z'"
        let day = { (count: Int) in format.string(from: Date(timeIntervalSinceNow: Double(count) * 86_400)) }
        return ["-startdate", day(days.lowerBound), "-enddate", day(days.upperBound)]
    }
}
