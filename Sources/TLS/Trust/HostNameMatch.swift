/// Whether a dNSName speaks for a host (RFC 9525 section 6.3), on bytes.
enum HostNameMatch {
    /// Case does not count. `*` is understood as the whole leftmost label only, stands for one label of letters,
    /// digits and hyphens, and needs two labels to its right.
    static func matches(presented: UnsafeBufferPointer<UInt8>, host: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = presented.first, let start = host.first, start != dot else { return false }
        guard first == star else { return !presented.contains(star) && equal(presented[...], host[...]) }
        let domain = presented.dropFirst()
        guard isWildcardDomain(domain), let end = host.firstIndex(of: dot) else { return false }
        return host[..<end].allSatisfy(isLetterDigitHyphen) && equal(domain, host[end...])
    }

    /// A dot, then at least two labels that a host name may have.
    private static func isWildcardDomain(_ domain: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard domain.first == dot else { return false }
        let labels = domain.dropFirst().split(separator: dot, omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                label.allSatisfy(isLetterDigitHyphen) && label.first.map { $0 != hyphen } == true
                    && label.last.map { $0 != hyphen } == true
            }
    }

    private static func equal(
        _ left: Slice<UnsafeBufferPointer<UInt8>>, _ right: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ unit: UInt8) -> UInt8 { (0x41...0x5A).contains(unit) ? unit | 0x20 : unit }

    private static func isLetterDigitHyphen(_ unit: UInt8) -> Bool {
        (0x61...0x7A).contains(lowercased(unit)) || (0x30...0x39).contains(unit) || unit == hyphen
    }

    private static let star = UInt8(ascii: "*")
    private static let dot = UInt8(ascii: ".")
    private static let hyphen = UInt8(ascii: "-")
}
