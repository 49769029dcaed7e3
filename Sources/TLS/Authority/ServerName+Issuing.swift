extension ServerName {
    /// Whether a certificate may be made out to it: a host name that can be looked up, letters, digits, `-` and `_` in
    /// labels (RFC 5890 section 2.3.1), or an address. A wildcard is no name of anybody.
    public var isFitForCertificates: Bool {
        guard case .host(let name) = self else { return true }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.utf8.count <= 253 && labels.allSatisfy { (1...63).contains($0.count) && $0.allSatisfy(Self.isFit) }
    }

    private static func isFit(_ unit: UInt8) -> Bool {
        switch unit {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
