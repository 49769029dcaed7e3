import Bytes
import Crypto

/// One connection's NTLM login: says what `NTLMHandshake` finds due.
final class NTLMContext: SecurityContext {
    private let authenticator: NTLMAuthenticator
    private let channel: ChannelBinding?
    private var handshake = NTLMHandshake.unbegun

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

    func authorize(at time: Int, into value: ByteBuffer) throws(AuthenticationError) {
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

    func refused(by challenges: [HeaderChallenge]) -> Refusal {
        handshake.refused(
            isOffered: challenges.contains { $0.scheme == "ntlm" },
            challenge: NTLMChallengeMessage(in: challenges))
    }

    func accepted(by challenges: [HeaderChallenge], persists: Bool) -> Acceptance {
        handshake.accepted(persists: persists)
    }
}
