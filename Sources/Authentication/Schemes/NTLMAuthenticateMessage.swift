import Crypto

/// The client's answer ([MS-NLMP] section 2.2.1.3), with the code that covers all three messages (section 3.1.5.1.2).
enum NTLMAuthenticateMessage {
    /// Some servers refuse an answer without one, some only let users in from named ones; the machine's own name is
    /// nobody's business.
    private static let workstation = "WORKSTATION"
    /// The signature, the type, six fields, the flags, the version and the code.
    private static let headLength = 88

    /// Nil when a part is too long for its field.
    static func bytes(
        answering challenge: NTLMChallengeMessage, negotiate: [UInt8], account: NTLMAccount, response: NTLMResponse
    ) -> [UInt8]? {
        let texts = [account.domain, account.user, workstation]
        let isUnicode = challenge.isUnicode || !texts.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
        let payload = [response.lm, response.nt] + texts.map { isUnicode ? Array(utf16: $0) : Array($0.utf8) } + [[]]
        var message = NTLMMessage.header(type: 3)
        var offset = headLength
        for part in payload {
            guard let length = UInt16(exactly: part.count) else { return nil }
            message.append(littleEndian: length)
            message.append(littleEndian: length)
            message.append(littleEndian: UInt32(truncatingIfNeeded: offset))
            offset += part.count
        }
        var flags = challenge.flags.intersection(.offered).union([.ntlm, .version])
        flags.remove(isUnicode ? .oem : .unicode)
        flags.insert(isUnicode ? .unicode : .oem)
        message.append(littleEndian: flags.rawValue)
        message += NTLMMessage.version
        let code = message.count..<headLength
        message += Array(repeating: 0, count: code.count)
        for part in payload { message += part }
        message.replaceSubrange(code, with: integrityCode(of: negotiate + challenge.bytes + message, response))
        return message
    }

    private static func integrityCode(of messages: [UInt8], _ response: NTLMResponse) -> [UInt8] {
        MessageAuthenticationCode(.md5, key: response.sessionKey).code(of: messages.span).array
    }
}
