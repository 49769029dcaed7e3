extension Certificate {
    /// The day (UTC) on which its validity begins, for people: `2026-11-21`.
    public var firstDay: String { CertificateTime.date(notBefore) }
    /// The day (UTC) on which its validity ends.
    public var lastDay: String { CertificateTime.date(notAfter) }
}
