import Bytes
import Crypto

extension DigestScheme {
    /// One nonce with everything that can be computed in advance. An answer then costs two digests, one of them already
    /// begun, and a few copies.
    final class Session: Sendable {
        let generation: UInt32
        let challenge: DigestScheme.Challenge
        /// The digest over user, realm and password. `-sess` derives it from the first nonce and keeps it (section 3.4.2).
        let key: Secret
        private let clientNonce: [UInt8]
        /// The response digest, begun with key, nonce, and the colons after them.
        private let begun: Secret
        /// The field before the target.
        private let head: [UInt8]
        /// The field between the target and the count. `beforeResponse` is the part between the count and the response.
        private let beforeCount: [UInt8]
        private let beforeResponse: [UInt8]
        /// The field after the response.
        private let tail: [UInt8]
        /// The input of the response digest between the count and the digest of A2.
        private let middle: [UInt8]
        let count: NonceCounts.Count

        /// - Parameters:
        ///   - count: the count of the challenge's nonce.
        ///   - key: the digest of A1 as hexadecimal text, made by `makeKey` or kept from the former session.
        ///   - user: the complete `username` parameter of the field.
        init(
            _ challenge: DigestScheme.Challenge, count: NonceCounts.Count, generation: UInt32, key: Secret,
            user: [UInt8],
            clientNonce: [UInt8]
        ) {
            self.challenge = challenge
            self.count = count
            self.generation = generation
            self.key = key
            self.clientNonce = clientNonce
            var digest = MessageDigest(challenge.algorithm)
            key.withBytes { digest.update($0) }
            digest.update(":")
            digest.update(challenge.nonce)
            digest.update(":")
            begun = digest.suspended()

            head =
                Array("Digest ".utf8) + user + Self.quoted(", realm=", challenge.realm)
                + Self.quoted(", nonce=", challenge.nonce) + Array(", uri=\"".utf8)
            let name = challenge.protection == .authInt ? "auth-int" : "auth"
            let sendsClientNonce = challenge.protection != .none || challenge.isSession
            beforeCount =
                [.quote] + (sendsClientNonce ? Self.quoted(", cnonce=", clientNonce) : [])
                + (challenge.protection == .none ? [] : Array(", nc=".utf8))
            beforeResponse =
                (challenge.protection == .none ? [] : Array(", qop=\(name)".utf8)) + Array(", response=\"".utf8)
            var tail: [UInt8] = [.quote]
            if let opaque = challenge.opaque { tail += Self.quoted(", opaque=", opaque) }
            if let algorithm = challenge.algorithmName { tail += Array(", algorithm=".utf8) + algorithm }
            if challenge.hashesUser { tail += Array(", userhash=true".utf8) }
            self.tail = tail
            middle = [.colon] + clientNonce + Array(":\(name):".utf8)
        }

        /// The digest of A1: user, realm and password; for `-sess` also the nonces (section 3.4.2).
        static func makeKey(
            _ challenge: DigestScheme.Challenge, user: String, password: Secret, clientNonce: [UInt8]
        ) -> Secret {
            let plain = DigestKey.make(
                challenge.algorithm, user: user, realm: challenge.realm.span, password: password)
            guard challenge.isSession else { return plain.withHexadecimal { Secret($0) } }
            var session = MessageDigest(challenge.algorithm)
            plain.withHexadecimal { session.update($0) }
            session.update(":")
            session.update(challenge.nonce)
            session.update(":")
            session.update(clientNonce)
            return session.finish().withHexadecimal { Secret($0) }
        }

        /// Whether any number of requests may be answered, without a digest of their bodies.
        var isRepeatable: Bool { challenge.protection != .authInt && count.uses == .many }

        /// Whether `qop` is the protection of our own requests, as named in, or omitted from, a server's
        /// `Authentication-Info`.
        func answers(qop: [UInt8]?) -> Bool {
            switch challenge.protection {
            case .none: false
            case .auth: qop.map { $0.span.equalsIgnoringCase("auth") } ?? true
            case .authInt: qop.map { $0.span.equalsIgnoringCase("auth-int") } ?? true
            }
        }

        /// Appends the field value for one request.
        func append(method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, count: UInt32, to value: ByteBuffer)
        {
            let digits = Self.hexadecimal(count)
            let response = response(method: method, target: target, bodyDigest: bodyDigest, count: digits)
            value.append(head)
            Self.append(escaping: target, to: value)
            value.append(beforeCount)
            if challenge.protection != .none { value.append(digits.span) }
            value.append(beforeResponse)
            response.withHexadecimal { value.append($0) }
            value.append(tail)
        }

        /// The value by which the server proves that it knows the password (section 3.5).
        func proof(target: Span<UInt8>, bodyDigest: [UInt8]?, count: UInt32) -> MessageDigest.Value {
            let none: [UInt8] = []
            return response(
                method: none.span, target: target, bodyDigest: bodyDigest, count: Self.hexadecimal(count))
        }

        /// The response digest (section 3.4.1).
        private func response(
            method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, count: InlineArray<8, UInt8>
        ) -> MessageDigest.Value {
            var second = MessageDigest(challenge.algorithm)
            second.update(method)
            second.update(":")
            if target.isEmpty { second.update("/") } else { second.update(target) }
            if challenge.protection == .authInt, let bodyDigest {
                second.update(":")
                second.update(utf8: Hex.encode(bodyDigest))
            }
            let secondDigest = second.finish()

            var digest = MessageDigest(resuming: begun)
            if challenge.protection != .none {
                digest.update(count.span)
                digest.update(middle)
            }
            secondDigest.withHexadecimal { digest.update($0) }
            return digest.finish()
        }

        private static func hexadecimal(_ number: UInt32) -> InlineArray<8, UInt8> {
            InlineArray { place in
                let digit = UInt8(truncatingIfNeeded: number >> UInt32(28 - 4 * place)) & 0xF
                return digit < 10 ? 0x30 + digit : 0x57 + digit
            }
        }

        /// Appends a target. A quote or backslash in it is rare, and must not end the quoted string.
        private static func append(escaping target: Span<UInt8>, to value: ByteBuffer) {
            if target.isEmpty { return value.append(.slash) }
            if target.firstIndex(of: .quote) == nil, target.firstIndex(of: .backslash) == nil {
                return value.append(target)
            }
            for offset in 0..<target.count {
                if target[offset] == .quote || target[offset] == .backslash { value.append(UInt8.backslash) }
                value.append(target[offset])
            }
        }

        /// A parameter with its value as a quoted string.
        static func quoted(_ name: String, _ value: [UInt8]) -> [UInt8] {
            var text = Array(name.utf8)
            text.append(.quote)
            for byte in value {
                if byte == .quote || byte == .backslash { text.append(.backslash) }
                text.append(byte)
            }
            text.append(.quote)
            return text
        }
    }

    /// A Digest challenge that can be answered (RFC 7616 section 3.3; without `qop`, RFC 2069).
    struct Challenge: Sendable {
        enum Protection: Sendable { case none, auth, authInt }

        let realm: [UInt8]
        private(set) var nonce: [UInt8]
        let opaque: [UInt8]?
        let algorithm: DigestAlgorithm
        /// The algorithm in the server's spelling; nil if the server named none, so that none is sent back.
        let algorithmName: [UInt8]?
        let isSession: Bool
        let protection: Protection
        let isStale: Bool
        let hashesUser: Bool
        let isUTF8: Bool

        /// Nil if a required parameter is missing or not supported.
        init?(_ challenge: HeaderChallenge) {
            guard challenge.scheme == "digest", let realm = challenge["realm"], let nonce = challenge["nonce"],
                let kind = Self.algorithm(challenge["algorithm"]),
                let protection = Self.protection(challenge["qop"])
            else { return nil }
            self.realm = realm
            self.nonce = nonce
            opaque = challenge["opaque"]
            (algorithm, isSession) = kind
            algorithmName = challenge["algorithm"]
            self.protection = protection
            isStale = challenge.isTrue("stale")
            hashesUser = challenge.isTrue("userhash")
            isUTF8 = challenge["charset"].map { $0.span.equalsIgnoringCase("utf-8") } ?? false
        }

        /// A copy of the challenge with the nonce of a `nextnonce`.
        func with(nonce: [UInt8]) -> DigestScheme.Challenge {
            var next = self
            next.nonce = nonce
            return next
        }

        /// The strength; nil if the challenge cannot be answered. Each response with a challenge asks, so that nothing is read
        /// that does not matter for it.
        static func strength(of challenge: HeaderChallenge) -> Int? {
            guard challenge.scheme == "digest", challenge["realm"] != nil, challenge["nonce"] != nil,
                let kind = algorithm(challenge["algorithm"]), protection(challenge["qop"]) != nil
            else { return nil }
            return switch kind.0 {
            case .md5, .sha1: 0
            case .sha256: 1
            case .sha512t256: 2
            }
        }

        private static func algorithm(_ name: [UInt8]?) -> (DigestAlgorithm, isSession: Bool)? {
            guard let name = name?.span else { return (.md5, false) }
            if name.equalsIgnoringCase("md5") { return (.md5, false) }
            if name.equalsIgnoringCase("md5-sess") { return (.md5, true) }
            if name.equalsIgnoringCase("sha-256") { return (.sha256, false) }
            if name.equalsIgnoringCase("sha-256-sess") { return (.sha256, true) }
            if name.equalsIgnoringCase("sha-512-256") { return (.sha512t256, false) }
            return name.equalsIgnoringCase("sha-512-256-sess") ? (.sha512t256, true) : nil
        }

        /// Chooses `auth` if it is offered, since `auth-int` needs the whole body before the head can be sent.
        private static func protection(_ options: [UInt8]?) -> Protection? {
            guard let options = options?.span else { return Protection.none }
            var (isEmpty, offersInt, start) = (true, false, 0)
            while start < options.count {
                var end = start
                while end < options.count, options[end] != .comma, !options[end].isBlank { end += 1 }
                let name = options.extracting(start..<end)
                if name.equalsIgnoringCase("auth") { return .auth }
                if !name.isEmpty { isEmpty = false }
                if name.equalsIgnoringCase("auth-int") { offersInt = true }
                start = end + 1
            }
            if isEmpty { return Protection.none }
            return offersInt ? .authInt : nil
        }
    }
}
