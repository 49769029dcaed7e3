import Crypto

/// Logs connections to one host in, as one account.
final class NTLMAuthenticator: ConnectionAuthenticator {
    /// NTLM has no realm: its space is the host.
    let extent = Extent.origin
    private let account: NTLMAccount
    private let key: Secret
    /// The service that the answers are meant for.
    private let target: String
    private let makeChallenge: @Sendable () throws(CryptoError) -> [UInt8]

    init(
        account: NTLMAccount, password: Secret, target: String,
        clientChallenge: @escaping @Sendable () throws(CryptoError) -> [UInt8]
    ) throws(CryptoError) {
        self.account = account
        self.target = target
        key = try NTLMResponse.key(for: account, password: password)
        makeChallenge = clientChallenge
    }

    func answers(_ challenge: HeaderChallenge) -> Bool { challenge.scheme == "ntlm" }

    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext {
        NTLMContext(self, over: channel)
    }

    /// The third message.
    ///
    /// - Parameter time: milliseconds since 1970; used where the server gives no time.
    func answer(
        to challenge: NTLMChallengeMessage, at time: Int, over channel: ChannelBinding?
    ) throws(AuthenticationError) -> [UInt8] {
        guard let clientChallenge = try? makeChallenge() else { throw .noRandomness }
        let information = challenge.targetInformation
        let response = NTLMResponse(
            key: key, serverChallenge: challenge.serverChallenge, clientChallenge: clientChallenge,
            time: information.time ?? Self.fileTime(time),
            targetInformation: information.answered(target: target, channel: channel.map(Self.hash)).bytes,
            sendsLM: information.time == nil)
        let message = NTLMAuthenticateMessage.bytes(
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

    /// In 100 nanoseconds since 1601-01-01 ([MS-DTYP] section 2.3.3).
    private static func fileTime(_ epochMilliseconds: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt64(clamping: epochMilliseconds &+ 11_644_473_600_000) &* 10_000)
        return bytes
    }
}
