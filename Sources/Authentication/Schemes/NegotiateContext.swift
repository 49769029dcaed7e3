import Bytes

/// One connection's Negotiate login: makes the tokens that `NegotiateHandshake` finds due.
final class NegotiateContext: SecurityContext {
    private let authenticator: NegotiateAuthenticator
    private let service: KerberosService
    private let channel: ChannelBinding?
    private var handshake = NegotiateHandshake.unbegun
    /// The login under way.
    private var login: (any KerberosLogin)?
    private(set) var trouble: AuthenticationError?

    init(_ authenticator: NegotiateAuthenticator, at service: KerberosService, over channel: ChannelBinding?) {
        self.authenticator = authenticator
        self.service = service
        self.channel = channel
    }

    var isEstablished: Bool { handshake == .established }

    var isAtRest: Bool { handshake == .established || handshake == .unbegun }

    /// Kerberos comes to its end with the first token: the body goes along.
    var isOpening: Bool { false }

    func prepare() async throws(AuthenticationError) {
        guard case .unbegun = handshake else { return }
        let login = authenticator.login(at: service, over: channel)
        self.login = login
        handshake.begun(with: try await authenticator.begin(login, at: service))
    }

    func authorize(at time: Int, into value: ByteBuffer) throws(AuthenticationError) {
        guard let token = handshake.requestSent() else { throw .unusableChallenge(method: .negotiate) }
        value.append("Negotiate " as StaticString)
        value.append(Base64.encode(token))
    }

    func refused(by challenges: [HeaderChallenge]) -> Refusal {
        if isEstablished {
            let isOffered = challenges.contains { authenticator.answers($0) }
            if isOffered { authenticator.serverForgetsLogins = true }
            return handshake.lost(isOffered: isOffered)
        }
        guard let login else { return .unrelated }
        let step = token(in: challenges).map { login.answer($0) }
        if step == .clockSkew { trouble = authenticator.clockSkew(at: service) }
        let isRefused = step == nil || step == .failed
        return handshake.refused(
            step: step, mayRetry: isRefused && handshake.isAwaitingVerdict && login.renounceTicket())
    }

    func accepted(by challenges: [HeaderChallenge], persists: Bool) -> Acceptance {
        let step = token(in: challenges).flatMap { login?.answer($0) }
        // It holds on to tickets.
        login = nil
        return handshake.accepted(step: step, persists: persists && !authenticator.serverForgetsLogins)
    }

    private func token(in challenges: [HeaderChallenge]) -> [UInt8]? {
        challenges.lazy.filter { self.authenticator.answers($0) }.compactMap(\.token68).first
            .flatMap { Base64.decode($0) }
    }
}
