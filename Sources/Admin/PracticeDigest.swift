import Authentication
import Bytes
import Crypto

/// The server's side of Digest (RFC 7616) for one protection space, with the practice credential: one algorithm,
/// `qop=auth`, no `userhash`. No I/O; time comes in as an argument.
struct PracticeDigest {
    enum Verdict: Equatable {
        /// `info` is the value of `Authentication-Info`, with which the server proves itself (section 3.5).
        case accepted(info: String)
        /// The user knows the password, but a new nonce is needed.
        case stale
        case refused
        /// Not the credentials of this request, or not such as could be verified: 400, says section 3.4.6.
        case malformed(String)
    }

    private let space: PracticeSpace
    private let algorithm: DigestAlgorithm
    private let algorithmName: StaticString
    private let opaque: String
    private var nonces: PracticeNonces

    /// - Parameter nonceLifetime: milliseconds.
    init(_ space: PracticeSpace, algorithm: DigestAlgorithm, nonceLifetime: UInt64) throws(CryptoError) {
        self.space = space
        self.algorithm = algorithm
        algorithmName =
            switch algorithm {
            case .md5: "MD5"
            case .sha256: "SHA-256"
            case .sha512t256: "SHA-512-256"
            }
        opaque = Hex.encode(try RandomBytes.make(16))
        nonces = PracticeNonces(lifetime: nonceLifetime, code: try .withRandomKey())
    }

    /// A challenge with a nonce of its own.
    mutating func challenge(stale: Bool = false, now: UInt64) -> String {
        "Digest realm=\"\(space.realm)\", domain=\"\(space.path)\", qop=\"auth\", algorithm=\(algorithmName)"
            + ", nonce=\"\(nonces.make(now: now))\", opaque=\"\(opaque)\"" + (stale ? ", stale=true" : "")
    }

    /// Verifies credentials sent with a request. Right ones use up their count, whatever comes of the request.
    /// - Parameters:
    ///   - target: the request target as it was sent.
    ///   - now: on the clock of `challenge`.
    mutating func verify(
        _ header: HeaderChallenge, method: StaticString, target: [UInt8], now: UInt64
    ) -> Verdict {
        guard header.scheme == "digest" else { return .refused }
        let credentials: DigestCredentials
        do {
            credentials = try DigestCredentials(header)
        } catch { return .malformed(error.description) }
        // An answer to another space's challenge, sent unasked.
        guard credentials.realm.span.equals(space.realm),
            credentials.algorithm == algorithmName.description.lowercased()
        else { return .refused }
        guard credentials.uri == target else {
            return .malformed("the uri in the Digest credentials is not the request target")
        }
        let key = key
        let expected = response(to: credentials, key: key, method: method)
        let isUser = ConstantTime.equal(credentials.user.span, PracticeCredential.user.utf8Span.span)
        let isProof = ConstantTime.equal(credentials.response.span, expected.array.span)
        guard isUser, isProof else { return .refused }
        guard credentials.opaque.span.equals(opaque.utf8Span.span),
            nonces.use(credentials.nonce, count: credentials.count, now: now)
        else { return .stale }
        return .accepted(info: info(credentials, proof: response(to: credentials, key: key, method: "")))
    }

    /// The digest of A1 (section 3.4.2).
    private var key: DigestValue {
        var digest = MessageDigest(algorithm)
        digest.update(utf8: PracticeCredential.user)
        digest.update(":")
        digest.update(space.realm)
        digest.update(":")
        digest.update(utf8: PracticeCredential.password)
        return digest.finish()
    }

    /// Section 3.4.1. An empty `method` makes what the server proves itself with.
    private func response(
        to credentials: DigestCredentials, key: DigestValue, method: StaticString
    ) -> DigestValue {
        var request = MessageDigest(algorithm)
        request.update(method)
        request.update(":")
        request.update(credentials.uri)
        var digest = MessageDigest(algorithm)
        key.withHexadecimal { digest.update($0) }
        for part in [credentials.nonce, credentials.countText, credentials.clientNonce] {
            digest.update(":")
            digest.update(part)
        }
        digest.update(":auth:")
        request.finish().withHexadecimal { digest.update($0) }
        return digest.finish()
    }

    private func info(_ credentials: DigestCredentials, proof: DigestValue) -> String {
        let clientNonce = credentials.clientNonce.flatMap { byte in
            byte == .quote || byte == .backslash ? [.backslash, byte] : [byte]
        }
        return "rspauth=\"\(proof.withHexadecimal { $0.text })\", cnonce=\"\(clientNonce.span.text)\""
            + ", nc=\(credentials.countText.span.text), qop=auth"
    }
}

/// The nonces of one protection space: a serial number, the time they were made, and a code over both under a key that
/// lasts as long as this value (RFC 7616 section 3.3). Only nonces that were used correctly take memory.
struct PracticeNonces {
    /// Milliseconds for which a nonce is good.
    let lifetime: UInt64
    private let code: MessageAuthenticationCode
    private var serial: UInt64 = 0
    /// The nonces up to this serial are good no more.
    private var forgotten: UInt64 = 0
    private var windows: [UInt64: CountWindow] = [:]

    static let limit = 1024
    private static let codeLength = 16
    private static let length = 16 + codeLength

    init(lifetime: UInt64, code: MessageAuthenticationCode) {
        self.lifetime = lifetime
        self.code = code
    }

    /// A new nonce: 64 hexadecimal digits.
    mutating func make(now: UInt64) -> String {
        serial += 1
        let stamp = Self.bytes(serial) + Self.bytes(now)
        return Hex.encode(stamp + code.code(of: stamp.span).array.prefix(Self.codeLength))
    }

    /// Uses up one count of a nonce. False: the nonce is not ours or too old, or the count was used before; a new
    /// nonce helps.
    mutating func use(_ nonce: [UInt8], count: UInt32, now: UInt64) -> Bool {
        guard let bytes = Hex.decode(nonce.span.text), bytes.count == Self.length else { return false }
        let expected = code.code(of: bytes.span.extracting(first: 16)).array.prefix(Self.codeLength)
        guard ConstantTime.equal(Array(expected).span, bytes.span.extracting(16..<Self.length)) else { return false }
        let number = Self.number(bytes[0..<8])
        let madeAt = Self.number(bytes[8..<16])
        guard number > forgotten, now >= madeAt, now - madeAt <= lifetime else { return false }
        if windows[number] == nil, windows.count >= Self.limit {
            // All begin anew: one more round trip each, where keeping some would mean to know which were used.
            windows.removeAll()
            forgotten = serial
            return false
        }
        return windows[number, default: CountWindow()].use(count)
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Which counts of one nonce have been used (RFC 7616 section 3.4, `nc`).
///
/// Requests of one client overtake each other on their connections, so a count may come after a higher one, once, as
/// long as it is not too far behind.
struct CountWindow: Equatable {
    private var highest: UInt32 = 0
    /// Bit n stands for the count `highest - n`.
    private var used: UInt128 = 0

    /// Uses a count up. False: it was used before, may have been, or is none.
    mutating func use(_ count: UInt32) -> Bool {
        guard count > 0 else { return false }
        if count > highest {
            used = used << (count - highest) | 1
            highest = count
            return true
        }
        let age = highest - count
        guard age < UInt128.bitWidth, used >> age & 1 == 0 else { return false }
        used |= 1 << age
        return true
    }
}

/// The parameters of `Authorization: Digest` with `qop=auth` (RFC 7616 section 3.4), none of them believed yet.
private struct DigestCredentials {
    let user: [UInt8]
    let realm: [UInt8]
    let nonce: [UInt8]
    let opaque: [UInt8]
    let uri: [UInt8]
    let clientNonce: [UInt8]
    /// `nc` as it was sent, and as a number.
    let countText: [UInt8]
    let count: UInt32
    let response: [UInt8]
    /// In lower case; MD5 where none is named.
    let algorithm: String

    /// Why the parameters are none that could be verified: the client's fault, whoever it is.
    enum Defect: Error, Equatable, CustomStringConvertible {
        case missing(String)
        case malformed(String)

        var description: String {
            switch self {
            case .missing(let name): "the Digest credentials lack \(name)"
            case .malformed(let name): "the value of \(name) in the Digest credentials makes no sense"
            }
        }
    }

    /// - Parameter credentials: of the scheme `digest`.
    init(_ credentials: HeaderChallenge) throws(Defect) {
        func value(_ name: String) throws(Defect) -> [UInt8] {
            guard let value = credentials[name] else { throw .missing(name) }
            return value
        }
        user = try value("username")
        realm = try value("realm")
        nonce = try value("nonce")
        opaque = try value("opaque")
        uri = try value("uri")
        clientNonce = try value("cnonce")
        countText = try value("nc")
        let protection = try value("qop")
        guard protection.span.equalsIgnoringCase("auth") else { throw .malformed("qop") }
        guard let count = Self.count(countText) else { throw .malformed("nc") }
        self.count = count
        let digits = try value("response")
        guard let response = Hex.decode(digits.span.text) else { throw .malformed("response") }
        self.response = response
        algorithm = credentials.text("algorithm")?.lowercased() ?? "md5"
    }

    /// Exactly eight hexadecimal digits.
    private static func count(_ text: [UInt8]) -> UInt32? {
        guard text.count == 8, let bytes = Hex.decode(text.span.text) else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
