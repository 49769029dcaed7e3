import Bytes
import Crypto
import Model
import Synchronization

/// Digest (RFC 7616), and its predecessor without `qop` (RFC 2069), which some devices still use.
public struct DigestScheme: AuthenticationScheme {
    public let method = AuthenticationMethod.digest
    private let makeClientNonce: @Sendable () throws(CryptoError) -> [UInt8]

    public init() {
        // 120 bits in 20 characters. With many servers' nonces, a longer text needs one more block of the response
        // digest.
        makeClientNonce = { () throws(CryptoError) in
            var text: [UInt8] = []
            text.reserveCapacity(20)
            Base64.append(try RandomBytes.make(15), to: &text)
            return text
        }
    }

    /// Uses given client nonces, as published examples need them.
    init(clientNonce: @escaping @Sendable () throws(CryptoError) -> [UInt8]) {
        makeClientNonce = clientNonce
    }

    public func strength(of challenge: HeaderChallenge) -> Int? {
        DigestScheme.Challenge.strength(of: challenge)
    }

    public func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>, with credential: Credential
    ) throws(AuthenticationError) -> any Authenticator {
        try authenticator(for: challenge, in: space, at: target, with: credential, counting: NonceCounts())
    }

    /// Creates an authenticator that continues the counts of the nonces that the server of the space has named so far.
    func authenticator(
        for challenge: HeaderChallenge, in space: ProtectionSpace, at target: Span<UInt8>,
        with credential: Credential, counting nonces: NonceCounts
    ) throws(AuthenticationError) -> any Authenticator {
        guard let digest = DigestScheme.Challenge(challenge) else { throw .unusableChallenge(method: method) }
        guard let user = credential.user, let password = credential.password else { throw unsuitable(credential) }
        guard !user.utf8.contains(where: { $0 < .space || $0 == .delete }) else {
            throw .controlCharacter(credential: credential.version.name)
        }
        return try DigestAuthenticator(
            digest, user: user, password: password,
            extent: .domain(challenge["domain"], of: space, challengedAt: target), nonces: nonces,
            clientNonce: makeClientNonce)
    }
}

/// Answers Digest challenges of one realm and algorithm with one credential.
///
/// Each nonce is a session; an answer's ticket names its session. A refusal counts only if one request alone has
/// answered the nonce, or if the server names no other. A server may replace nonces at any time; some do not report
/// that as `stale`. Some accept each nonce once, or accept counts only in order.
private final class DigestAuthenticator: RequestAuthenticator {
    let extent: Extent
    private let user: String
    private let password: Secret
    private let realm: [UInt8]
    private let algorithm: DigestAlgorithm
    private let makeClientNonce: @Sendable () throws(CryptoError) -> [UInt8]
    private let state: Mutex<State>

    private struct State {
        var current: DigestScheme.Session
        /// The former sessions, the newest last. Their requests may still be in flight. If a server returns to an old
        /// nonce, it must not see its counts again.
        var former: [DigestScheme.Session] = []
        var generations: UInt32 = 1
    }

    /// The counts of the server's nonces, which all authenticators of the space share.
    private let nonces: NonceCounts

    init(
        _ challenge: DigestScheme.Challenge, user: String, password: Secret, extent: Extent, nonces: NonceCounts,
        clientNonce: @escaping @Sendable () throws(CryptoError) -> [UInt8]
    ) throws(AuthenticationError) {
        self.user = user
        self.password = password
        self.extent = extent
        realm = challenge.realm
        algorithm = challenge.algorithm
        makeClientNonce = clientNonce
        guard let nonce = try? clientNonce() else { throw .noRandomness }
        let key = DigestScheme.Session.makeKey(challenge, user: user, password: password, clientNonce: nonce)
        let session = DigestScheme.Session(
            challenge, count: nonces.count(of: challenge.nonce), generation: 1, key: key,
            user: Self.userParameter(challenge, user: user), clientNonce: nonce)
        state = Mutex(State(current: session))
        self.nonces = nonces
    }

    /// Creates a copy of an authenticator for that session.
    private init(_ session: DigestScheme.Session, as other: DigestAuthenticator) {
        user = other.user
        password = other.password
        extent = other.extent
        realm = other.realm
        algorithm = other.algorithm
        makeClientNonce = other.makeClientNonce
        nonces = other.nonces
        state = Mutex(State(current: session))
    }

    var usesMD5: Bool { algorithm == .md5 }

    var bodyDigest: DigestAlgorithm? {
        state.withLock { $0.current.challenge.protection == .authInt } ? algorithm : nil
    }

    var uses: AnswerUses { current.count.uses }

    var isRepeatable: Bool { state.withLock { $0.current.isRepeatable } }

    func answers(_ challenge: HeaderChallenge) -> Bool {
        DigestScheme.Challenge(challenge).map(isOurs) ?? false
    }

    /// A new nonce is for this answer alone, unless the server names it to others too: then they count its uses
    /// together. Once the server has accepted it, its authenticator replaces this one. For a used-up nonce, this
    /// authenticator may have another one.
    func authenticator(for challenge: HeaderChallenge) -> (any Authenticator)? {
        guard let challenge = DigestScheme.Challenge(challenge), isOurs(challenge) else { return nil }
        return state.withLock { state in
            let count = nonces.count(of: challenge.nonce)
            if count.uses == .none { return self }
            if state.former.contains(where: { $0.challenge.nonce == challenge.nonce }) {
                adopt(challenge, key: nil, in: &state)
            }
            if state.current.challenge.nonce == challenge.nonce { return self }
            let key = challenge.isSession ? nil : state.current.key
            return session(for: challenge, count, generation: 1, key: key).map { DigestAuthenticator($0, as: self) }
        }
    }

    func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket {
        let session = current
        if session.challenge.protection == .authInt, bodyDigest == nil { throw .bodyDigestNeeded }
        guard let count = session.count.next() else { throw .nonceExhausted }
        session.append(method: method, target: target, bodyDigest: bodyDigest, count: count, to: value)
        return AuthorizationTicket(generation: session.generation, count: count)
    }

    func refused(by challenges: [HeaderChallenge], ticket: AuthorizationTicket) -> RepeatedChallenge {
        let ours = challenges.compactMap { DigestScheme.Challenge($0) }.first { self.isOurs($0) }
        guard let challenge = ours else {
            // A server may send no more than that for a used nonce.
            guard challenges.isEmpty else { return .unrelated }
            return session(of: ticket).map { $0.count.isProven || ticket.count > 1 } ?? true ? .renewed : .unrelated
        }
        guard let session = session(of: ticket) else { return .renewed }
        let isNewNonce = challenge.nonce != session.challenge.nonce
        if session.count.isProven || ticket.count > 1 { return isNewNonce || challenge.isStale ? .renewed : .refused }
        guard challenge.isStale else { return .refused }
        if isNewNonce { state.withLock { adopt(challenge, key: nil, in: &$0) } }
        return .retry
    }

    func accepted(
        _ info: Span<UInt8>?, ticket: AuthorizationTicket, target: Span<UInt8>, bodyDigest: [UInt8]?
    ) -> Acceptance {
        guard let session = session(of: ticket) else { return .unverified }
        guard let info, info.count > 0 else {
            session.count.noteAccepted()
            return .unverified
        }
        guard let parameters = DigestScheme.Info(info) else { return .unverified }
        let verdict = verdict(
            on: parameters, session: session, ticket: ticket, target: target, bodyDigest: bodyDigest)
        switch verdict {
        case .mismatch, .needsBody: return verdict
        case .verified, .unverified, .ignored: break
        }
        session.count.noteAccepted()
        if let nonce = parameters["nextnonce"] { adopt(nextNonce: nonce, after: session) }
        return verdict
    }

    private func isOurs(_ challenge: DigestScheme.Challenge) -> Bool {
        challenge.realm == realm && challenge.algorithm == algorithm
    }

    private var current: DigestScheme.Session {
        state.withLock { $0.current }
    }

    private func session(of ticket: AuthorizationTicket) -> DigestScheme.Session? {
        state.withLock { state in
            if state.current.generation == ticket.generation { return state.current }
            return state.former.last { $0.generation == ticket.generation }
        }
    }

    /// Makes a session for the challenge's nonce; nil if there is no client nonce.
    ///
    /// - Parameter key: nil: a new one.
    private func session(
        for challenge: DigestScheme.Challenge, _ count: NonceCounts.Count, generation: UInt32, key: Secret?
    ) -> DigestScheme.Session? {
        guard let nonce = try? makeClientNonce() else { return nil }
        return DigestScheme.Session(
            challenge, count: count, generation: generation,
            key: key ?? DigestScheme.Session.makeKey(challenge, user: user, password: password, clientNonce: nonce),
            user: Self.userParameter(challenge, user: user), clientNonce: nonce)
    }

    /// Judges the server's proof (section 3.5). The server chooses the protection of its response. Only the requested
    /// protection can be distinguished from a response whose protection an attacker removed.
    private func verdict(
        on parameters: DigestScheme.Info, session: DigestScheme.Session, ticket: AuthorizationTicket,
        target: Span<UInt8>,
        bodyDigest: [UInt8]?
    ) -> Acceptance {
        guard let proof = parameters["rspauth"], session.answers(qop: parameters["qop"]) else { return .unverified }
        if session.challenge.protection == .authInt, bodyDigest == nil { return .needsBody(algorithm) }
        let expected = session.proof(target: target, bodyDigest: bodyDigest, count: ticket.count)
        let lowercased = proof.map(\.asciiLowercased)
        return expected.withHexadecimal { ConstantTime.equal($0, lowercased.span) } ? .verified : .mismatch
    }

    private func adopt(nextNonce: [UInt8], after session: DigestScheme.Session) {
        guard nextNonce != session.challenge.nonce, !nextNonce.isEmpty else { return }
        let challenge = session.challenge.with(nonce: nextNonce)
        state.withLock { state in
            guard state.current === session else { return }
            adopt(challenge, key: session.key, in: &state)
            state.current.count.noteAnnounced()
        }
    }

    /// Begins a session for the challenge's nonce, or continues the existing one.
    private func adopt(_ challenge: DigestScheme.Challenge, key: Secret?, in state: inout State) {
        let previous = state.current
        if let known = state.former.firstIndex(where: { $0.challenge.nonce == challenge.nonce }) {
            state.current = state.former.remove(at: known)
        } else {
            let (count, generation) = (nonces.count(of: challenge.nonce), state.generations &+ 1)
            guard let new = session(for: challenge, count, generation: generation, key: key) else { return }
            state.generations = generation
            state.current = new
        }
        state.former.append(previous)
        if state.former.count > 4 { state.former.removeFirst() }
    }

    /// The `username` parameter of RFC 7616 section 3.4: hashed if the server asks for that, `username*` if the server
    /// reads UTF-8 and the name is not ASCII, else the quoted name. A server that supports neither reads raw bytes.
    private static func userParameter(_ challenge: DigestScheme.Challenge, user: String) -> [UInt8] {
        if challenge.hashesUser {
            var digest = MessageDigest(challenge.algorithm)
            digest.update(utf8: user)
            digest.update(":")
            digest.update(challenge.realm)
            return DigestScheme.Session.quoted("username=", digest.finish().withHexadecimal { $0.array })
        }
        if challenge.isUTF8, user.utf8.contains(where: { $0 >= 0x80 }) {
            return Array("username*=UTF-8''\(extendedValue(user))".utf8)
        }
        return DigestScheme.Session.quoted("username=", Array(user.utf8))
    }

    /// The `value-chars` of RFC 8187 section 3.2.1 (RFC 5987).
    private static func extendedValue(_ text: String) -> String {
        text.utf8.map { byte in
            byte.isLetter || byte.isDigit || "!#$&+-.^_`|~".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : "%\(Hex.encode([byte]).uppercased())"
        }.joined()
    }
}

extension DigestScheme {
    /// The parameters of an `Authentication-Info` or `Proxy-Authentication-Info` field (RFC 7615).
    fileprivate struct Info {
        private var parameters: [HeaderChallenge.Parameter] = []

        /// Nil if the field is malformed, repeats a name, or is too large.
        init?(_ field: Span<UInt8>) {
            guard field.count <= 4096 else { return nil }
            var reader = ParameterReader(field)
            reader.skipCommasAndBlanks()
            while !reader.isAtEnd {
                guard let name = reader.token(), case .value(let value) = reader.value(mayBeMissing: false),
                    self[name] == nil
                else { return nil }
                parameters.append(HeaderChallenge.Parameter(name: name, value: value))
                reader.skipCommasAndBlanks()
            }
        }

        subscript(name: String) -> [UInt8]? {
            parameters.first { $0.name == name }?.value
        }
    }
}
