import Bytes
import Model
import Synchronization

/// Negotiate (RFC 4559): SPNEGO over HTTP, with Kerberos only. It authenticates a connection, though many servers
/// accept the login for one request only.
public struct NegotiateScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.negotiate

    public init() {}

    public func strength(of challenge: HeaderChallenge) -> Int? {
        challenge.scheme == "negotiate" ? 0 : nil
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        guard let principal = credential.principal else { throw unsuitable(credential) }
        return NegotiateAuthenticator(principal, of: credential.version.name, at: space.host)
    }
}

/// Logs in connections to one host, with one principal.
private final class NegotiateAuthenticator: ConnectionAuthenticator {
    /// Negotiate has no realm: its space is the host.
    let extent = Extent.origin
    let principal: any KerberosPrincipal
    let credential: String
    private let host: String
    private let forgetsLogins = Atomic(false)

    init(_ principal: any KerberosPrincipal, of credential: String, at host: String) {
        self.principal = principal
        self.credential = credential
        self.host = host
    }

    func answers(_ challenge: HeaderChallenge) -> Bool { challenge.scheme == "negotiate" }

    func prepare(under terms: LoginTerms) async throws(AuthenticationError) {
        let service = KerberosService(host: host, under: terms)
        do throws(TicketError) { try await principal.prepare(for: service) } catch {
            throw .noTicket(credential: credential, service: service.name, error)
        }
    }

    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext {
        NegotiateScheme.Context(self, at: KerberosService(host: host, under: terms), over: channel)
    }

    func begin(
        _ login: any KerberosLogin, at service: KerberosService
    ) async throws(AuthenticationError) -> [UInt8] {
        do throws(TicketError) { return try await login.begin() } catch {
            throw .noTicket(credential: credential, service: service.name, error)
        }
    }

    /// Whether the server accepts a login for one request only, which it shows by a challenge to the next one. From
    /// then on every request carries a token, on all connections.
    var serverForgetsLogins: Bool {
        get { forgetsLogins.load(ordering: .relaxed) }
        set { forgetsLogins.store(newValue, ordering: .relaxed) }
    }
}

extension NegotiateScheme {
    /// The Negotiate login of one connection. It makes the tokens that `NegotiateHandshake` requires.
    fileprivate final class Context: SecurityContext {
        private let authenticator: NegotiateAuthenticator
        private let service: KerberosService
        private let channel: ChannelBinding?
        private var handshake = NegotiateScheme.Handshake.unbegun
        /// The login in progress.
        private var login: (any KerberosLogin)?
        private(set) var trouble: AuthenticationError?

        init(_ authenticator: NegotiateAuthenticator, at service: KerberosService, over channel: ChannelBinding?) {
            self.authenticator = authenticator
            self.service = service
            self.channel = channel
        }

        var isEstablished: Bool { handshake == .established }

        var isAtRest: Bool { handshake == .established || handshake == .unbegun }

        /// Kerberos ends with the first token, so the body is sent with it.
        var isOpening: Bool { false }

        func prepare() async throws(AuthenticationError) {
            guard case .unbegun = handshake else { return }
            let login = authenticator.principal.login(at: service, over: channel)
            self.login = login
            handshake.begun(with: try await authenticator.begin(login, at: service))
        }

        func authorize(at time: WallTime, into value: ByteBuffer) throws(AuthenticationError) {
            guard let token = handshake.requestSent() else { throw .unusableChallenge(method: .negotiate) }
            value.append("Negotiate " as StaticString)
            value.append(Base64.encode(token))
        }

        func refused(by challenges: [HeaderChallenge]) -> RepeatedChallenge {
            if isEstablished {
                let isOffered = challenges.contains { authenticator.answers($0) }
                if isOffered { authenticator.serverForgetsLogins = true }
                return handshake.lost(isOffered: isOffered)
            }
            guard let login else { return .unrelated }
            let step = token(in: challenges).map { login.answer($0) }
            if step == .clockSkew {
                trouble = .clockSkew(credential: authenticator.credential, service: service.name)
            }
            let isRefused = step == nil || step == .failed
            return handshake.refused(
                step: step, mayRetry: isRefused && handshake == .awaitingVerdict && login.renounceTicket())
        }

        func accepted(by challenges: [HeaderChallenge], persists: Bool) -> Acceptance {
            let step = token(in: challenges).flatMap { login?.answer($0) }
            // A login retains its tickets.
            login = nil
            return handshake.accepted(step: step, persists: persists && !authenticator.serverForgetsLogins)
        }

        private func token(in challenges: [HeaderChallenge]) -> [UInt8]? {
            challenges.lazy.filter { self.authenticator.answers($0) }.compactMap(\.token68).first
                .flatMap { Base64.decode($0) }
        }
    }

    /// The order of the tokens of a Negotiate login on a connection. A machine without I/O and without Kerberos.
    ///
    ///     unbegun ─▶ ready ─▶ awaitingVerdict ─▶ established
    ///        ▲         ▲─────────────┘ │               │
    ///        └─────── for one request only ────────────┘
    enum Handshake: Equatable {
        /// The state before the first token. Becomes `.ready`.
        case unbegun
        /// A token is ready to be sent. Becomes `.awaitingVerdict`.
        case ready([UInt8])
        /// A token was sent. Becomes `.ready` if the server needs another one, `.established`, `.unbegun` if it was
        /// accepted for one request, or `.failed`.
        case awaitingVerdict
        /// The connection is logged in. Becomes `.unbegun` when the server says that it is not.
        case established
        /// The login failed, and the connection cannot be used. Stays.
        case failed

        /// Handles the first token.
        mutating func begun(with token: [UInt8]) {
            if case .unbegun = self { self = .ready(token) }
        }

        /// Returns the token for a request that is sent; nil if none is needed, or none was made.
        mutating func requestSent() -> [UInt8]? {
            guard case .ready(let token) = self else { return nil }
            self = .awaitingVerdict
            return token
        }

        /// Handles a `401` or `407` to a request with a token.
        ///
        /// - Parameters:
        ///   - step: the result of the token in it; nil without one.
        ///   - mayRetry: whether another ticket could succeed.
        mutating func refused(step: KerberosStep?, mayRetry: Bool) -> RepeatedChallenge {
            guard case .awaitingVerdict = self else { return .unrelated }
            switch step {
            case .continue(let token)?:
                self = .ready(token)
                return .proceed
            case .established?:
                // The server knows the user and denies access. Another token would not change that.
                self = .failed
                return .denied
            case .clockSkew?:
                self = .failed
                return .aborted
            case .failed?, nil:
                self = mayRetry ? .unbegun : .failed
                return mayRetry ? .retry : .denied
            }
        }

        /// Handles a `401` or `407` on a connection that was logged in.
        mutating func lost(isOffered: Bool) -> RepeatedChallenge {
            guard isOffered else { return .unrelated }
            self = .unbegun
            return .retry
        }

        /// Handles a response without a challenge.
        ///
        /// - Parameter step: the result of the token in it; nil without one.
        mutating func accepted(step: KerberosStep?, persists: Bool) -> Acceptance {
            switch self {
            case .awaitingVerdict:
                if step == .failed || step == .clockSkew {
                    self = .failed
                    return .mismatch
                }
                self = persists ? .established : .unbegun
                return step == .established ? .verified : .unverified
            case .established: return .unverified
            case .unbegun, .ready, .failed:
                self = .failed
                return .ignored
            }
        }
    }
}
