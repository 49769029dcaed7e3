import Bytes
import Crypto

extension NTLMMessage {
    /// The client's answer ([MS-NLMP] section 2.2.1.3), with the integrity code over all three messages (section
    /// 3.1.5.1.2).
    enum Authenticate {
        /// The workstation name. Some servers refuse an answer without one, and some accept only certain names. The
        /// machine's own name is not revealed.
        private static let workstation = "WORKSTATION"
        /// The length of the signature, the type, six fields, the flags, the version and the code.
        private static let headLength = 88

        /// Nil if a part is too long for its field.
        static func bytes(
            answering challenge: Challenge, negotiate: [UInt8], account: Account, response: Response
        ) -> [UInt8]? {
            let texts = [account.domain, account.user, workstation]
            let isUnicode = challenge.isUnicode || !texts.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
            let payload =
                [response.lm, response.nt] + texts.map { isUnicode ? Array(utf16: $0) : Array($0.utf8) } + [[]]
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
            let messages = negotiate + challenge.bytes + message
            let integrity = MessageAuthenticationCode(.md5, key: response.sessionKey).code(of: messages.span)
            message.replaceSubrange(code, with: integrity.array)
            return message
        }
    }
}

extension NTLMMessage.Authenticate {
    /// NTLMv2's answer to a challenge ([MS-NLMP] section 3.3.2). LM and NTLMv1 are not supported: they reveal the password.
    struct Response {
        let nt: [UInt8]
        let lm: [UInt8]
        /// The key of the integrity code.
        let sessionKey: MessageDigest.Value

        /// - Parameters:
        ///   - key: the user's key, from `key(for:password:)`.
        ///   - time: in 100 nanoseconds since 1601, as eight bytes.
        ///   - sendsLM: whether to make the older of the two responses. If not it is zero, as required if the server sent
        ///     the time.
        init(
            key: Secret, serverChallenge: [UInt8], clientChallenge: [UInt8], time: [UInt8], targetInformation: [UInt8],
            sendsLM: Bool
        ) {
            let code = MessageAuthenticationCode(.md5, key: key)
            let (versions, reserved): ([UInt8], [UInt8]) = ([1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0])
            let blob = versions + time + clientChallenge + reserved + targetInformation + reserved
            let proof = code.code(of: (serverChallenge + blob).span)
            nt = proof.array + blob
            lm =
                sendsLM
                ? code.code(of: (serverChallenge + clientChallenge).span).array + clientChallenge
                : Array(repeating: 0, count: 24)
            sessionKey = code.code(of: proof.array.span)
        }

        /// The account's key (`NTOWFv2`).
        static func key(for account: NTLMMessage.Authenticate.Account, password: Secret) throws(CryptoError) -> Secret {
            let hash = try passwordHash(of: password)
            var key = MessageAuthenticationCode(.md5, key: hash).code(of: account.identity.span).array
            return Secret(wiping: &key)
        }

        /// The MD4 of the password in UTF-16 (`NTOWFv1`). It makes no string, since strings cannot be wiped.
        static func passwordHash(of password: Secret) throws(CryptoError) -> MessageDigest.Value {
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

    /// A user in NTLM. The domain may be empty, so that the server chooses it.
    struct Account: Sendable, Equatable {
        let domain: String
        let user: String

        /// Parses `DOMAIN\user`, `user@domain.example` (which is sent whole, without a domain), or a user alone. Nil
        /// without a user's name: the server would treat the client as anonymous.
        init?(_ name: String) {
            if let backslash = name.firstIndex(of: "\\") {
                domain = String(name[..<backslash])
                user = String(name[name.index(after: backslash)...])
            } else {
                domain = ""
                user = name
            }
            if user.isEmpty { return nil }
        }

        /// The input of the password's keyed hash: the user in capitals, and the domain unchanged ([MS-NLMP] section
        /// 3.3.2).
        var identity: [UInt8] { Array(utf16: Self.uppercased(user) + domain) }

        /// Converts each character, as Windows does. A character stays as it is if it would become two, or if it is not
        /// ASCII and would become ASCII.
        private static func uppercased(_ text: String) -> String {
            var result = ""
            for scalar in text.unicodeScalars {
                let upper = scalar.properties.uppercaseMapping.unicodeScalars
                let isSimple = upper.count == 1 && upper.first?.isASCII == scalar.isASCII && scalar.value < 0x1_0000
                result.unicodeScalars.append(isSimple ? upper.first ?? scalar : scalar)
            }
            return result
        }
    }
}
