/// A version of TLS, by its number on the wire (RFC 8446 section 4.2.1).
public enum TLSVersion: Int32, Sendable, Hashable, CaseIterable, Comparable, LosslessStringConvertible {
    case v10 = 0x0301
    case v11 = 0x0302
    case v12 = 0x0303
    case v13 = 0x0304

    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    /// Parses the number alone, as in a rule file: `1.2`.
    public init?(_ description: String) {
        guard let version = Self.allCases.first(where: { $0.description == description }) else { return nil }
        self = version
    }

    public var description: String { "1.\(rawValue - Self.v10.rawValue)" }
}
