/// Why a side broke off (RFC 8446 section 6.2, RFC 5246 section 7.2.2).
public struct TLSAlert: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let closeNotify = TLSAlert(rawValue: 0)
    public static let handshakeFailure = TLSAlert(rawValue: 40)
    public static let badCertificate = TLSAlert(rawValue: 42)
    public static let certificateUnknown = TLSAlert(rawValue: 46)
    public static let accessDenied = TLSAlert(rawValue: 49)
    public static let certificateRequired = TLSAlert(rawValue: 116)
    public static let noApplicationProtocol = TLSAlert(rawValue: 120)

    /// What a server may say when it wanted a client certificate and got none.
    var mayMeanMissingIdentity: Bool {
        [.handshakeFailure, .badCertificate, .certificateUnknown, .accessDenied, .certificateRequired].contains(self)
    }
}

extension TLSAlert: CustomStringConvertible {
    /// The alert's name in words.
    public var description: String { Self.names[rawValue] ?? "alert \(rawValue)" }

    private static let names: [UInt8: String] = [
        0: "close notify", 10: "unexpected message", 20: "bad record mac", 21: "decryption failed",
        22: "record overflow", 30: "decompression failure", 40: "handshake failure", 41: "no certificate",
        42: "bad certificate", 43: "unsupported certificate", 44: "certificate revoked", 45: "certificate expired",
        46: "certificate unknown", 47: "illegal parameter", 48: "unknown certificate authority", 49: "access denied",
        50: "decode error", 51: "decrypt error", 60: "export restriction", 70: "protocol version",
        71: "insufficient security", 80: "internal error", 86: "inappropriate fallback", 90: "user canceled",
        100: "no renegotiation", 109: "missing extension", 110: "unsupported extension",
        111: "certificate unobtainable", 112: "unrecognized name", 113: "bad certificate status response",
        114: "bad certificate hash value", 115: "unknown identity", 116: "certificate required",
        120: "no application protocol",
    ]
}
