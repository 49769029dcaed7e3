import Bytes
import Model

/// The server's side of SOCKS 5 (RFC 1928, with the passwords of RFC 1929), 4a and 4. A machine without I/O: the caller
/// hands in the received bytes that were not consumed yet, and does what the step says.
///
///     begun ─▶ [awaitingPassword ─▶ awaitingVerdict ─▶] awaitingRequest ─▶ over
public enum SOCKSNegotiation: Equatable {
    /// The login that the server wants.
    public enum Login: Sendable, Equatable {
        /// The client is known, or need not be. A password that it sends nevertheless is not checked.
        case none
        case password
        /// A login that SOCKS does not have.
        case other
    }

    /// The client has sent nothing that was consumed. Becomes `.awaitingPassword`, `.awaitingRequest` or `.over`.
    case begun(Login)
    /// The client was asked for user and password. Becomes `.awaitingVerdict` or `.awaitingRequest`.
    case awaitingPassword(checks: Bool)
    /// The caller checks the password, and calls `accept` or `refuse`. Becomes `.awaitingRequest` or `.over`.
    case awaitingVerdict
    /// Becomes `.over`.
    case awaitingRequest
    /// The negotiation has ended, and the bytes after it are not its own. Stays.
    case over

    public enum Step: Equatable {
        case needsMore
        /// The bytes are sent to the client. In all cases, the last value is the number of consumed bytes.
        case reply([UInt8], Int)
        /// The places of user and password, which are to be checked.
        case password(user: Range<Int>, password: Range<Int>, Int)
        case connect(Target, Int)
        /// The bytes are sent to the client, and the connection is closed.
        case refused([UInt8], SOCKSRefusal)
    }

    /// More bytes than any message before the reply has: a request of SOCKS 4a with the longest user and name.
    public static let longestMessage = 8 + 2 * (Self.longestText + 1)
    private static let longestText = 255

    /// Whether a connection that begins with this byte speaks SOCKS.
    public static func begins(with byte: UInt8) -> Bool { byte == 4 || byte == 5 }

    /// Takes the received bytes that were not consumed yet.
    public mutating func receive(_ bytes: Span<UInt8>) -> Step {
        switch self {
        case .begun(let login): bytes.isEmpty ? .needsMore : bytes[0] == 4 ? four(bytes, login) : greeting(bytes, login)
        case .awaitingPassword(let checks): password(bytes, checks)
        case .awaitingRequest: request(bytes)
        case .awaitingVerdict, .over: .needsMore
        }
    }

    /// The password is right.
    /// - Returns: the bytes to send.
    public mutating func accept() -> [UInt8] {
        self = .awaitingRequest
        return [1, 0]
    }

    /// The password is wrong, or cannot be checked now.
    /// - Returns: the bytes to send before the connection is closed.
    public mutating func refuse() -> [UInt8] {
        self = .over
        return [1, 1]
    }

    // MARK: - SOCKS 5

    private mutating func greeting(_ bytes: Span<UInt8>, _ login: Login) -> Step {
        guard bytes[0] == 5 else { return end([], .malformed) }
        guard bytes.count >= 2 else { return .needsMore }
        let end = 2 + Int(bytes[1])
        guard bytes.count >= end else { return .needsMore }
        let methods = bytes.extracting(2..<end)
        let (offersNone, offersPassword) = (methods.firstIndex(of: 0) != nil, methods.firstIndex(of: 2) != nil)
        switch login {
        case .none where offersNone:
            self = .awaitingRequest
            return .reply([5, 0], end)
        case .none where offersPassword, .password where offersPassword:
            self = .awaitingPassword(checks: login == .password)
            return .reply([5, 2], end)
        case .none: return self.end([5, 0xFF], .noMethod)
        case .password: return self.end([5, 0xFF], .noPassword)
        case .other: return self.end([5, 0xFF], .unsupportedLogin)
        }
    }

    private mutating func password(_ bytes: Span<UInt8>, _ checks: Bool) -> Step {
        guard bytes.count >= 2 else { return .needsMore }
        guard bytes[0] == 1 else { return end([1, 1], .malformed) }
        let userEnd = 2 + Int(bytes[1])
        guard bytes.count > userEnd else { return .needsMore }
        let start = userEnd + 1
        let length = Int(bytes[userEnd])
        guard bytes.count >= start + length else { return .needsMore }
        guard checks else { return .reply(accept(), start + length) }
        self = .awaitingVerdict
        return .password(user: 2..<userEnd, password: start..<start + length, start + length)
    }

    private mutating func request(_ bytes: Span<UInt8>) -> Step {
        guard bytes.count >= 5 else { return .needsMore }
        guard bytes[0] == 5 else { return end(Reply.failure, .malformed) }
        guard bytes[1] == 1 else { return end(Reply.unsupportedCommand, .unsupportedCommand) }
        let addressStart = bytes[3] == SOCKSAddress.name ? 5 : 4
        let length: Int
        switch bytes[3] {
        case SOCKSAddress.four: length = 4
        case SOCKSAddress.six: length = 16
        case SOCKSAddress.name: length = Int(bytes[4])
        default: return end(Reply.unsupportedAddress, .malformed)
        }
        let end = addressStart + length + 2
        guard bytes.count >= end else { return .needsMore }
        let host = bytes.extracting(addressStart..<addressStart + length)
        let target: Target?
        let port = Self.port(bytes, at: end - 2)
        switch bytes[3] {
        case SOCKSAddress.four:
            target = Target(IPAddress(v4: UInt32(truncatingIfNeeded: host.number(in: 0..<4))), port, .five)
        case SOCKSAddress.six:
            target = Target(IPAddress(v6High: host.number(in: 0..<8), low: host.number(in: 8..<16)), port, .five)
        default: target = Target(name: host, port, .five)
        }
        guard let target else { return self.end(Reply.failure, .unusableName) }
        self = .over
        return .connect(target, end)
    }

    private mutating func end(_ reply: Reply, _ refusal: SOCKSRefusal) -> Step {
        end(reply.bytes(.five), refusal)
    }

    private mutating func end(_ bytes: [UInt8], _ refusal: SOCKSRefusal) -> Step {
        self = .over
        return .refused(bytes, refusal)
    }

    // MARK: - SOCKS 4 and 4a

    private mutating func four(_ bytes: Span<UInt8>, _ login: Login) -> Step {
        guard bytes.count > 8 else { return .needsMore }
        let refused = Reply.failure.bytes(.four)
        guard bytes[1] == 1 else { return end(refused, .unsupportedCommand) }
        guard login == .none else { return end(refused, login == .password ? .noPassword : .unsupportedLogin) }
        guard let userEnd = Self.end(of: bytes, from: 8) else { return end(refused, .malformed) }
        guard userEnd < bytes.count else { return .needsMore }
        let address = UInt32(truncatingIfNeeded: bytes.number(in: 4..<8))
        let port = Self.port(bytes, at: 2)
        // 4a: an address 0.0.0.x that no host has says that the name follows.
        guard address > 0, address < 256 else {
            self = .over
            return .connect(Target(IPAddress(v4: address), port, .four), userEnd + 1)
        }
        guard let nameEnd = Self.end(of: bytes, from: userEnd + 1) else { return end(refused, .malformed) }
        guard nameEnd < bytes.count else { return .needsMore }
        guard let target = Target(name: bytes.extracting(userEnd + 1..<nameEnd), port, .fourA) else {
            return end(refused, .unusableName)
        }
        self = .over
        return .connect(target, nameEnd + 1)
    }

    /// The place of the zero that ends the text from `start` on, or the number of bytes if it has not come; nil if the text
    /// is too long.
    private static func end(of bytes: Span<UInt8>, from start: Int) -> Int? {
        var end = start
        while end < bytes.count, bytes[end] != 0 { end += 1 }
        return end - start <= longestText ? end : nil
    }

    private static func port(_ bytes: Span<UInt8>, at place: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: bytes.number(in: place..<place + 2))
    }

    /// The server that a client of SOCKS wants a connection to.
    public struct Target: Equatable, Sendable {
        public let version: SOCKSVersion
        /// The host and the port, as in a CONNECT request: an IPv6 address is in brackets.
        public let authority: String

        init(_ address: IPAddress, _ port: UInt16, _ version: SOCKSVersion) {
            self.version = version
            authority = address.family == .v4 ? "\(address):\(port)" : "[\(address)]:\(port)"
        }

        /// Nil if the name has a byte that no host's name has: it becomes a part of a request's head.
        init?(name: Span<UInt8>, _ port: UInt16, _ version: SOCKSVersion) {
            guard !name.isEmpty else { return nil }
            if let address = IPAddress(name.text) {
                self = SOCKSNegotiation.Target(address, port, version)
                return
            }
            for place in name.indices where !name[place].isOfHostName { return nil }
            (self.version, authority) = (version, "\(name.text):\(port)")
        }
    }

    /// The reply to the request of a SOCKS client (RFC 1928 section 6).
    public enum Reply: UInt8, Sendable {
        case succeeded = 0
        case failure = 1
        case notAllowed = 2
        case networkUnreachable = 3
        case hostUnreachable = 4
        case connectionRefused = 5
        case unsupportedCommand = 7
        case unsupportedAddress = 8

        /// The message. SOCKS 4 knows success and failure only.
        public func bytes(_ version: SOCKSVersion) -> [UInt8] {
            switch version {
            case .five: [5, rawValue, 0, 1, 0, 0, 0, 0, 0, 0]
            case .four, .fourA: [0, self == .succeeded ? 90 : 91, 0, 0, 0, 0, 0, 0]
            }
        }
    }
}

/// The reason why a client of SOCKS is refused before it has asked for a server.
public enum SOCKSRefusal: Equatable, Sendable {
    case malformed
    /// BIND and UDP ASSOCIATE.
    case unsupportedCommand
    /// The client offers no method that the server has.
    case noMethod
    /// The client must log in, and has no password.
    case noPassword
    /// The proxy wants a login that SOCKS does not have.
    case unsupportedLogin
    case unusableName

    public var sentence: String {
        switch self {
        case .malformed: "the client's SOCKS message is malformed"
        case .unsupportedCommand: "the client asks by SOCKS for another command than CONNECT"
        case .noMethod: "the client offers no SOCKS method that needs no login or a password"
        case .noPassword: "the client did not log in: with SOCKS it needs version 5, and a user and a password"
        case .unsupportedLogin:
            "SOCKS clients can log in by a password only, and 'authenticate' has no 'basic': add it, or use 'listen … as'"
        case .unusableName: "the client asks by SOCKS for a name that no host can have"
        }
    }
}
