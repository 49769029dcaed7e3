import Crypto

// What people compare and look at.
extension Certificate {
    /// SHA-256 of the whole, as trust stores show it: `AB:CD:…`.
    public var fingerprint: String {
        MessageDigest.digest(.sha256, of: der.span).array.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined(separator: ":")
    }

    /// The day (UTC) on which its validity begins, for people: `2026-11-21`.
    public var firstDay: String { CertificateTime.date(notBefore) }
    /// The day (UTC) on which its validity ends.
    public var lastDay: String { CertificateTime.date(notAfter) }
}
