import Bytes

/// The identity of a workload (SPIFFE-ID section 2): `spiffe://TRUST-DOMAIN/PATH`, with a path.
public struct SPIFFEID: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    public let trustDomain: String

    public static let prefix = "spiffe://"
    private static let longest = 2048
    private static let longestDomain = 255

    /// Nil if it is not one, byte for byte: an upper-case trust domain and an empty part of a path are invalid.
    public init?(_ text: String) {
        guard text.utf8.starts(with: Self.prefix.utf8), text.utf8.count <= Self.longest else {
            return nil
        }
        let rest = text.utf8.dropFirst(Self.prefix.utf8.count)
        guard let slash = rest.firstIndex(of: .slash) else { return nil }
        let domain = String(decoding: rest[..<slash], as: UTF8.self)
        guard Self.isTrustDomain(domain) else { return nil }
        let parts = rest[rest.index(after: slash)...].split(
            separator: .slash, omittingEmptySubsequences: false)
        let isSound = parts.allSatisfy { part in
            !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
                && part.allSatisfy { Self.isCommon($0.asciiLowercased) }
        }
        guard isSound else { return nil }
        (description, trustDomain) = (text, domain)
    }

    /// Whether the text can be a trust domain: lower-case letters, digits, dots, hyphens and underscores.
    public static func isTrustDomain(_ text: String) -> Bool {
        (1...longestDomain).contains(text.utf8.count) && text.utf8.allSatisfy(isCommon)
    }

    private static func isCommon(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || byte.isDigit || ".-_".utf8.contains(byte)
    }
}
