/// A version of TLS, as the rule file names it.
public enum TLSVersion: String, Sendable, CaseIterable, Comparable {
    case tls10 = "1.0"
    case tls11 = "1.1"
    case tls12 = "1.2"
    case tls13 = "1.3"

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
