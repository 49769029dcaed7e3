/// The reason why a TLS connection failed, divided by whose fault it is.
public enum TLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The peer closed the connection with this alert.
    case alert(TLSAlert)
    /// The peer closed the connection after it had requested a client certificate and got none.
    case identityWanted(TLSAlert)
    /// The peer broke the protocol, or none of its offers is acceptable; in the library's words.
    case peer(reason: String)
    /// The peer closed the connection without closing TLS, so the data may be truncated (RFC 8446 section 6.1).
    case truncated
    /// The server showed another certificate when it renegotiated.
    case serverChanged
    /// The server's certificate was refused.
    case trustRefused
    /// There is no certificate for a client that asked for this name.
    case noIdentity(serverName: String?)
    /// The client's certificate was refused.
    case clientRefused
    /// Our certificate and key cannot be used on this connection.
    case unusableIdentity(reason: String)
    /// The transport failed with this `errno`.
    case transport(errno: Int32)
    /// The library failed locally; in its words.
    case local(reason: String)

    /// The `reason` of `peer`, in the library's words, if the peer's versions are all lower than the lowest allowed
    /// one.
    public static let tooOldVersion = "unsupported protocol"

    public var description: String {
        switch self {
        case .alert(let alert): "the peer stopped the TLS connection: \(alert)"
        case .identityWanted(let alert): "the server asks for a client certificate: \(alert)"
        case .peer(let reason): "TLS with the peer failed: \(reason)"
        case .truncated: "the peer closed the TLS connection without close_notify"
        case .serverChanged: "the server renegotiated with another certificate"
        case .trustRefused: "the server's certificate is not trusted"
        case .noIdentity(let name?): "there is no certificate for \(name)"
        case .noIdentity(nil): "there is no certificate for a client that names no server"
        case .clientRefused: "the client's certificate is not trusted"
        case .unusableIdentity(let reason): "the certificate cannot be used: \(reason)"
        case .transport: "the connection under TLS broke"
        case .local(let reason): "TLS failed here: \(reason)"
        }
    }
}

/// The alert with which a side closed the connection (RFC 8446 section 6.2, RFC 5246 section 7.2.2).
public struct TLSAlert: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let closeNotify = TLSAlert(rawValue: 0)
    public static let handshakeFailure = TLSAlert(rawValue: 40)
    public static let protocolVersion = TLSAlert(rawValue: 70)
    public static let badCertificate = TLSAlert(rawValue: 42)
    public static let unsupportedCertificate = TLSAlert(rawValue: 43)
    public static let certificateRevoked = TLSAlert(rawValue: 44)
    public static let certificateExpired = TLSAlert(rawValue: 45)
    public static let certificateUnknown = TLSAlert(rawValue: 46)
    public static let unknownAuthority = TLSAlert(rawValue: 48)
    public static let accessDenied = TLSAlert(rawValue: 49)
    public static let certificateRequired = TLSAlert(rawValue: 116)
    public static let noApplicationProtocol = TLSAlert(rawValue: 120)

    /// Whether the alert refuses the certificate that the peer was shown.
    public var refusesCertificate: Bool {
        [
            .badCertificate, .unsupportedCertificate, .certificateRevoked, .certificateExpired, .certificateUnknown,
            .unknownAuthority, .accessDenied, .certificateRequired,
        ].contains(self)
    }

    /// Whether a server may send this alert when it requested a client certificate and got none.
    var mayMeanMissingIdentity: Bool {
        [.handshakeFailure, .badCertificate, .certificateUnknown, .accessDenied, .certificateRequired].contains(self)
    }

    /// The alert's name.
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
