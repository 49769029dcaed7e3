import Bytes

/// The client's side of SOCKS 5 (RFC 1928), with user and password if the server wants them (RFC 1929). A machine
/// without I/O: the caller sends what a step asks for, and hands in the received bytes.
///
///     awaitingMethod ─▶ [awaitingVerdict ─▶] awaitingReply ─▶ open
public enum SOCKS5Handshake: Equatable {
    /// The greeting was sent. Becomes `.awaitingVerdict` or `.awaitingReply`.
    case awaitingMethod(offersPassword: Bool)
    /// User and password were sent. Becomes `.awaitingReply`.
    case awaitingVerdict
    /// The request was sent. Becomes `.open`.
    case awaitingReply
    /// The bytes that follow belong to the origin. Stays.
    case open

    public enum Step: Equatable {
        case needsMore
        /// User and password are to be sent; this many bytes were consumed.
        case password(consumed: Int)
        /// The request is to be sent; this many bytes were consumed.
        case request(consumed: Int)
        case open(consumed: Int)
    }

    /// Takes the received bytes that were not consumed yet.
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
            // Some servers send the version of SOCKS here, not that of the negotiation. Any other value is malformed.
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

    /// The length of the reply; nil when more bytes are needed.
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

    // MARK: - Messages to the server

    public static func greeting(offersPassword: Bool) -> [UInt8] {
        offersPassword ? [version, 2, noLogin, passwordLogin] : [version, 1, noLogin]
    }

    /// RFC 1928 section 4: CONNECT. The server resolves a name.
    public static func request(host: String, port: UInt16) throws(SOCKSError) -> [UInt8] {
        [version, 1, 0] + (try SOCKSAddress.bytes(of: host)) + SOCKSAddress.bigEndian(port)
    }
}
