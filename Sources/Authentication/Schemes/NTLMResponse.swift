import Bytes
import Crypto

/// NTLMv2's answer to a challenge ([MS-NLMP] section 3.3.2). There is no other here: LM and NTLMv1 give the password away.
struct NTLMResponse {
    let nt: [UInt8]
    let lm: [UInt8]
    /// What the integrity code is made with.
    let sessionKey: DigestValue

    /// - Parameters:
    ///   - key: the user's, from `key(for:password:)`.
    ///   - time: in 100 nanoseconds since 1601, as eight bytes.
    ///   - sendsLM: whether the older of the two responses is made; else it is zero, as it is where the server knows
    ///     the time.
    init(
        key: Secret, serverChallenge: [UInt8], clientChallenge: [UInt8], time: [UInt8], targetInformation: [UInt8],
        sendsLM: Bool
    ) {
        let code = MessageAuthenticationCode(.md5, key: key)
        let blob =
            [1, 1, 0, 0, 0, 0, 0, 0] + time + clientChallenge + [0, 0, 0, 0] + targetInformation + [0, 0, 0, 0]
        let proof = code.code(of: (serverChallenge + blob).span)
        nt = proof.array + blob
        lm =
            sendsLM
            ? code.code(of: (serverChallenge + clientChallenge).span).array + clientChallenge
            : Array(repeating: 0, count: 24)
        sessionKey = code.code(of: proof.array.span)
    }

    /// The account's key (`NTOWFv2`).
    static func key(for account: NTLMAccount, password: Secret) throws(CryptoError) -> Secret {
        let hash = try passwordHash(of: password)
        var key = MessageAuthenticationCode(.md5, key: hash).code(of: account.identity.span).array
        return Secret(wiping: &key)
    }

    /// MD4 of the password in UTF-16 (`NTOWFv1`). No string is made of it on the way, since nothing wipes strings.
    static func passwordHash(of password: Secret) throws(CryptoError) -> DigestValue {
        var bytes = password.withBytes { $0.array }
        var units: [UInt8] = []
        units.reserveCapacity(bytes.count * 2)
        _ = transcode(bytes.makeIterator(), from: UTF8.self, to: UTF16.self, stoppingOnError: false) {
            units.append(littleEndian: $0)
        }
        _ = Secret(wiping: &bytes)
        let text = Secret(wiping: &units)
        return try text.withBytes { units throws(CryptoError) in try MD4.digest(of: units) }
    }
}
