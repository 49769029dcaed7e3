import Bytes

/// The server's challenge ([MS-NLMP] section 2.2.1.2), read as tolerantly as it can be answered: its target's name is
/// not looked at, since some point outside the message, and all that stands behind the challenge may be missing.
struct NTLMChallengeMessage: Sendable, Equatable {
    let flags: NTLMFlags
    let serverChallenge: [UInt8]
    let targetInformation: NTLMTargetInformation
    /// As it came: the integrity code covers it.
    let bytes: [UInt8]

    /// Nil for what is no such message.
    init?(_ bytes: [UInt8]) {
        let span = bytes.span
        guard bytes.starts(with: NTLMMessage.header(type: 2)), let flags = span.littleEndian32(at: 20),
            bytes.count >= 32
        else { return nil }
        self.bytes = bytes
        self.flags = NTLMFlags(rawValue: flags)
        serverChallenge = Array(bytes[24..<32])
        if self.flags.contains(.targetInformation), let length = span.littleEndian16(at: 40),
            let offset = span.littleEndian32(at: 44), offset <= bytes.count, length <= bytes.count - Int(offset)
        {
            targetInformation = NTLMTargetInformation(span.extracting(Int(offset)..<Int(offset) + length))
        } else {
            targetInformation = NTLMTargetInformation()
        }
    }

    /// The token of the first NTLM challenge that has one.
    init?(in challenges: [HeaderChallenge]) {
        guard let token = challenges.lazy.filter({ $0.scheme == "ntlm" }).compactMap(\.token68).first,
            let bytes = Base64.decode(token)
        else { return nil }
        self.init(bytes)
    }

    /// Whether texts go back in UTF-16; else in the server's own eight-bit characters, of which ASCII is certain.
    var isUnicode: Bool { flags.contains(.unicode) || !flags.contains(.oem) }
}
