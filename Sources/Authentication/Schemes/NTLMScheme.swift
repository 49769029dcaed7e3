import Bytes
import Crypto
import Model

/// NTLM over HTTP ([MS-NTHT], [MS-NLMP]): NTLMv2 only, in Unicode, with integrity code, channel bindings and the name
/// of the service. It authenticates a connection, not a request.
public struct NTLMScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.ntlm
    private let makeChallenge: @Sendable () throws(CryptoError) -> [UInt8]

    public init() {
        makeChallenge = { () throws(CryptoError) in try RandomBytes.make(8) }
    }

    /// Uses a given client challenge, for published examples.
    init(clientChallenge: @escaping @Sendable () throws(CryptoError) -> [UInt8]) { makeChallenge = clientChallenge }

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge.scheme == "ntlm" ? 0 : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let password = credential.password,
            let account = credential.user.flatMap({ NTLMMessage.Authenticate.Account($0) })
        else { throw unsuitable(credential) }
        do throws(CryptoError) {
            return try NTLMAuthenticator(
                account: account, password: password, target: "HTTP/\(space.host)", clientChallenge: makeChallenge)
        } catch { throw .unavailable(method: method, error) }
    }
}

/// Logs in connections to one host, with one account.
final class NTLMAuthenticator: ConnectionAuthenticator {
    /// NTLM has no realm: its space is the host.
    let extent = Extent.origin
    private let account: NTLMMessage.Authenticate.Account
    private let key: Secret
    /// The service that the answers are for.
    private let target: String
    private let makeChallenge: @Sendable () throws(CryptoError) -> [UInt8]

    init(
        account: NTLMMessage.Authenticate.Account, password: Secret, target: String,
        clientChallenge: @escaping @Sendable () throws(CryptoError) -> [UInt8]
    ) throws(CryptoError) {
        self.account = account
        self.target = target
        key = try NTLMMessage.Authenticate.Response.key(for: account, password: password)
        makeChallenge = clientChallenge
    }

    func answers(_ challenge: HeaderChallenge) -> Bool { challenge.scheme == "ntlm" }

    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext {
        NTLMScheme.Context(self, over: channel)
    }

    /// The third message.
    ///
    /// - Parameter time: used if the server sends no time.
    func answer(
        to challenge: NTLMMessage.Challenge, at time: WallTime, over channel: ChannelBinding?
    ) throws(AuthenticationError) -> [UInt8] {
        guard let clientChallenge = try? makeChallenge() else { throw .noRandomness }
        let information = challenge.targetInformation
        let response = NTLMMessage.Authenticate.Response(
            key: key, serverChallenge: challenge.serverChallenge, clientChallenge: clientChallenge,
            time: information.time ?? Self.fileTime(time),
            targetInformation: information.answered(target: target, channel: channel.map(Self.hash)).bytes,
            sendsLM: information.time == nil)
        let message = NTLMMessage.Authenticate.bytes(
            answering: challenge, negotiate: NTLMMessage.negotiate, account: account, response: response)
        guard let message else { throw .unusableChallenge(method: .ntlm) }
        return message
    }

    /// The MD5 of `gss_channel_bindings_struct` with empty addresses ([MS-NLMP] section 2.2.2.1, RFC 2744 section 3.11).
    static func hash(_ channel: ChannelBinding) -> [UInt8] {
        var digest = MessageDigest(.md5)
        digest.update(Array(repeating: 0, count: 16))
        var length: [UInt8] = []
        length.append(littleEndian: UInt32(truncatingIfNeeded: channel.applicationData.count))
        digest.update(length)
        digest.update(channel.applicationData)
        return digest.finish().array
    }

    /// The time in 100 nanoseconds since 1601-01-01 ([MS-DTYP] section 2.3.3).
    private static func fileTime(_ time: WallTime) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt64(clamping: time.milliseconds &+ 11_644_473_600_000) &* 10_000)
        return bytes
    }
}

extension NTLMScheme {
    /// The NTLM login of one connection. It sends the messages that `NTLMHandshake` requires.
    fileprivate final class Context: SecurityContext {
        private let authenticator: NTLMAuthenticator
        private let channel: ChannelBinding?
        private var handshake = NTLMScheme.Handshake.unbegun

        init(_ authenticator: NTLMAuthenticator, over channel: ChannelBinding?) {
            self.authenticator = authenticator
            self.channel = channel
        }

        var isEstablished: Bool {
            if case .established = handshake { true } else { false }
        }

        var isOpening: Bool {
            if case .unbegun = handshake { true } else { false }
        }

        func authorize(at time: WallTime, into value: ByteBuffer) throws(AuthenticationError) {
            let message: [UInt8]
            switch handshake.requestSent() {
            case .negotiate: message = NTLMMessage.negotiate
            case .authenticate(let challenge):
                message = try authenticator.answer(to: challenge, at: time, over: channel)
            case .none: throw .unusableChallenge(method: .ntlm)
            }
            value.append("NTLM " as StaticString)
            value.append(Base64.encode(message))
        }

        func refused(by challenges: [HeaderChallenge]) -> RepeatedChallenge {
            handshake.refused(
                isOffered: challenges.contains { $0.scheme == "ntlm" },
                challenge: NTLMMessage.Challenge(in: challenges))
        }

        func accepted(by challenges: [HeaderChallenge], persists: Bool) -> Acceptance {
            handshake.accepted(persists: persists)
        }
    }

    /// The order of NTLM's three messages on a connection. A machine without I/O and without cryptography.
    ///
    ///     unbegun ─▶ awaitingChallenge ─▶ challenged ─▶ awaitingVerdict ─▶ established
    ///        ▲                                                 │                │
    ///        └──────────── the login holds no longer ──────────┴────────────────┘
    fileprivate enum Handshake {
        /// The state before the first message. Becomes `.awaitingChallenge`.
        case unbegun
        /// The first message was sent. Becomes `.challenged`, or `.failed` if the server does not continue.
        case awaitingChallenge
        /// The server's challenge has arrived. Becomes `.awaitingVerdict`.
        case challenged(NTLMMessage.Challenge)
        /// The answer was sent. Becomes `.established`, `.unbegun` if it was accepted for one request, or `.failed`.
        case awaitingVerdict
        /// The connection is logged in. Becomes `.unbegun` when the server says that it is not.
        case established
        /// The login failed, and the connection cannot be used. Stays.
        case failed

        /// The next message to send.
        enum Message {
            case negotiate
            case authenticate(NTLMMessage.Challenge)
            /// No message: the connection is logged in, waits for the server, or cannot be used.
            case none
        }

        /// Returns the message for a request that is sent.
        mutating func requestSent() -> Message {
            switch self {
            case .unbegun:
                self = .awaitingChallenge
                return .negotiate
            case .challenged(let challenge):
                self = .awaitingVerdict
                return .authenticate(challenge)
            case .awaitingChallenge, .awaitingVerdict, .established, .failed: return .none
            }
        }

        /// Handles a `401` or `407`.
        ///
        /// - Parameters:
        ///   - isOffered: whether one of its challenges is NTLM's.
        ///   - challenge: the message in it.
        mutating func refused(isOffered: Bool, challenge: NTLMMessage.Challenge?) -> RepeatedChallenge {
            switch self {
            case .awaitingChallenge:
                guard let challenge else {
                    self = .failed
                    return .aborted
                }
                self = .challenged(challenge)
                return .proceed
            case .awaitingVerdict:
                // The server has checked the answer, even if it now asks for another scheme.
                self = .failed
                return .refused
            case .established:
                guard isOffered else { return .unrelated }
                self = .unbegun
                return .retry
            case .unbegun, .challenged, .failed: return .unrelated
            }
        }

        /// Handles a response without a challenge.
        mutating func accepted(persists: Bool) -> Acceptance {
            switch self {
            case .awaitingVerdict:
                self = persists ? .established : .unbegun
                return .unverified
            case .established: return .unverified
            case .unbegun, .awaitingChallenge, .challenged, .failed:
                self = .failed
                return .ignored
            }
        }
    }
}
