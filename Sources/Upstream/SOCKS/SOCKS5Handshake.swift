import Bytes

/// The client's side of SOCKS 5 (RFC 1928), with a user and a password where the server wants them (RFC 1929). A machine
/// without I/O: what is due is sent, and what comes is handed in.
///
///     awaitingMethod ─▶ [awaitingVerdict ─▶] awaitingReply ─▶ open
public enum SOCKS5Handshake: Equatable {
    /// The greeting is out. Becomes `.awaitingVerdict` or `.awaitingReply`.
    case awaitingMethod(offersPassword: Bool)
    /// User and password are out. Becomes `.awaitingReply`.
    case awaitingVerdict
    /// The request is out. Becomes `.open`.
    case awaitingReply
    /// The bytes that follow are the origin's. Stays.
    case open

    public enum Step: Equatable {
        case needsMore
        /// User and password are due; so many bytes are done with.
        case password(consumed: Int)
        /// The request is due.
        case request(consumed: Int)
        case open(consumed: Int)
    }

    /// Takes the bytes that have come and were not consumed.
    public mutating func receive(_ bytes: Span<UInt8>) throws(SOCKSError) -> Step {
        guard bytes.count >= 2 else { return .needsMore }
        switch self {
        case .awaitingMethod(let offersPassword):
            guard bytes[0] == Self.version else { throw .malformed }
            switch bytes[1] {
            case Self.noLogin:
                self = .awaitingReply
                return .request(consumed: 2)
            case Self.passwordLogin where offersPassword:
                self = .awaitingVerdict
                return .password(consumed: 2)
            case 0xFF: throw .noAcceptableMethod
            default: throw .malformed
            }
        case .awaitingVerdict:
            // Some servers give the version of SOCKS here, not that of the negotiation. What is neither is no verdict.
            guard bytes[0] == 1 || bytes[0] == Self.version else { throw .malformed }
            guard bytes[1] == 0 else { throw .passwordRefused }
            self = .awaitingReply
            return .request(consumed: 2)
        case .awaitingReply:
            guard bytes[0] == Self.version else { throw .malformed }
            guard bytes[1] == 0 else { throw .refused(code: bytes[1]) }
            guard let length = try Self.lengthOfReply(bytes), bytes.count >= length else { return .needsMore }
            self = .open
            return .open(consumed: length)
        case .open: return .open(consumed: 0)
        }
    }

    /// Nil when too little has come to tell.
    private static func lengthOfReply(_ bytes: Span<UInt8>) throws(SOCKSError) -> Int? {
        guard bytes.count >= 5 else { return nil }
        switch bytes[3] {
        case SOCKSAddress.four: return 10
        case SOCKSAddress.name: return 7 + Int(bytes[4])
        case SOCKSAddress.six: return 22
        default: throw .malformed
        }
    }

    private static let version: UInt8 = 5
    private static let noLogin: UInt8 = 0
    private static let passwordLogin: UInt8 = 2

    // MARK: - What is sent

    public static func greeting(offersPassword: Bool) -> [UInt8] {
        offersPassword ? [version, 2, noLogin, passwordLogin] : [version, 1, noLogin]
    }

    /// RFC 1928 section 4: CONNECT. A name is the server's to look up.
    public static func request(host: String, port: UInt16) throws(SOCKSError) -> [UInt8] {
        [version, 1, 0] + (try SOCKSAddress.bytes(of: host)) + SOCKSAddress.bytes(of: port)
    }
}
