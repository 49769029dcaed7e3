import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// One connection's conversation, message by message.
@Suite struct NTLMSchemeTests {
    private func context(
        user: String = "Domain\\User", password: String = "Password", over channel: ChannelBinding? = nil
    ) throws -> any SecurityContext {
        let space = ProtectionSpace(
            origin: Origin(host: "host.example", port: 80, protocol: .http), realm: nil, authenticationMethod: .ntlm)
        let authenticator = try NTLMScheme(clientChallenge: { Array(repeating: 0xAA, count: 8) }).authenticator(
            for: HeaderChallenge(scheme: "ntlm"), in: space, at: "/".utf8Span.span,
            with: Credential(name: "test", user: user, password: Secret(password)))
        guard case .connection(let connections) = authenticator.binding else {
            throw AuthenticationError.unusableChallenge(method: .ntlm)
        }
        return connections.makeContext(over: channel, under: LoginTerms())
    }

    /// The message that goes out.
    private func said(_ context: any SecurityContext, at time: WallTime = 0) throws -> [UInt8] {
        let value = ByteBuffer(capacity: 64)
        try context.authorize(at: time, into: value)
        let text = value.readable.text
        #expect(text.hasPrefix("NTLM "))
        return try #require(Base64.decode(text.dropFirst(5)))
    }

    private func ntlm(_ message: [UInt8]? = nil) -> [HeaderChallenge] {
        [HeaderChallenge(scheme: "ntlm", token68: message.map { Base64.encode($0) })]
    }

    private func answer(
        to challenge: [UInt8], user: String = "Domain\\User", over channel: ChannelBinding? = nil, at time: WallTime = 0
    ) throws -> NTLMPeer.Answer {
        let context = try context(user: user, over: channel)
        _ = try said(context)
        #expect(context.refused(by: ntlm(challenge)) == .proceed)
        return NTLMPeer.Answer(bytes: try said(context, at: time))
    }

    @Test func `the first message is 40 bytes long and has a version`() throws {
        let context = try context()
        #expect(context.isOpening)
        #expect(
            Hex.encode(try said(context))
                == "4e544c4d53535000" + "01000000" + "078288a2" + "0000000000000000" + "0000000000000000"
                + "0601b11d0000000f")
        #expect(!context.isOpening)
    }

    @Test func `the third message proves the password over all that was said`() throws {
        let challenge = NTLMPeer.challenge()
        let answer = try answer(to: challenge)
        #expect(try answer.isProof(of: "Password", by: "USERDomain", challenge: challenge))
        #expect(answer.lm == Array(repeating: 0, count: 24))
        #expect(answer.time == [9, 8, 7, 6, 5, 4, 3, 2])
        #expect(answer.domain == Array(utf16: "Domain"))
        #expect(answer.user == Array(utf16: "User"))
        #expect(answer.workstation == Array(utf16: "WORKSTATION"))
        #expect(answer.sessionKey.isEmpty)
        #expect(answer.version == NTLMMessage.version)
        #expect(answer.flags & 0x4000_0030 == 0, "no key is exchanged, nothing signed or sealed")
        #expect(answer.flags & 3 == 1, "Unicode")
    }

    @Test func `the answer is for this service, on this channel, and says that it has a code`() throws {
        let channel = ChannelBinding(tlsServerEndPoint: [1, 2, 3])
        let answer = try answer(to: NTLMPeer.challenge(), over: channel)
        #expect(answer.information[9] == Array(utf16: "HTTP/host.example"))
        #expect(answer.information[10] == NTLMAuthenticator.hash(channel))
        #expect(answer.information[6] == [2, 0, 0, 0])
        #expect(answer.information[2] == Array(utf16: "Domain"))
        #expect(answer.information.attributes.map(\.identifier) == [2, 1, 7, 6, 10, 9])
    }

    @Test func `without a channel its hash is zero`() throws {
        #expect(try answer(to: NTLMPeer.challenge()).information[10] == Array(repeating: 0, count: 16))
    }

    @Test func `the server's statements about itself are taken over once`() throws {
        let claims: [(UInt16, [UInt8])] = [
            (6, [1, 0, 0, 0]), (9, [1, 1]), (10, [2, 2]), (7, Array(repeating: 5, count: 8)),
        ]
        let information = try answer(to: NTLMPeer.challenge(claims)).information
        #expect(information[6] == [3, 0, 0, 0])
        #expect(information.attributes.map(\.identifier).sorted() == [6, 7, 9, 10])
    }

    @Test func `without the server's time ours counts, and the older response is made`() throws {
        let challenge = NTLMPeer.challenge([])
        let answer = try answer(to: challenge, at: 1_000)
        #expect(try answer.isProof(of: "Password", by: "USERDomain", challenge: challenge))
        // 11644473601 seconds since 1601.
        let ticks = answer.time.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        #expect(ticks == 116_444_736_010_000_000)
        #expect(answer.lm.suffix(8) == Array(repeating: 0xAA, count: 8))
    }

    /// The message of squid's `ntlm_fake_auth`: 49 bytes, the target's name outside the message, no target information.
    @Test func `a challenge whose target lies outside the message is answered`() throws {
        var challenge = Array("NTLMSSP\0".utf8)
        challenge.append(littleEndian: UInt32(2))
        challenge += [9, 0, 9, 0, 0xAE, 0xAA, 0xAA, 0xAA]
        challenge.append(littleEndian: UInt32(0x0000_8206))
        challenge += NTLMPeer.serverChallenge + Array(repeating: 0, count: 8) + Array("WORKGROUP".utf8)
        #expect(challenge.count == 49)
        let answer = try answer(to: challenge)
        #expect(try answer.isProof(of: "Password", by: "USERDomain", challenge: challenge))
        #expect(answer.user == Array("User".utf8), "the server asked for its eight-bit characters")
        #expect(answer.flags & 3 == 2)
    }

    @Test func `a name that eight bits cannot carry goes in Unicode all the same`() throws {
        let answer = try answer(to: NTLMPeer.challenge(flags: 0xA289_8206), user: "Domain\\Jäsøn")
        #expect(answer.user == Array(utf16: "Jäsøn"))
        #expect(answer.flags & 3 == 1)
    }

    @Test func `a challenge of 32 bytes is enough`() throws {
        let challenge = Array(NTLMPeer.challenge([], flags: 0x205).prefix(32))
        let answer = try answer(to: challenge)
        #expect(try answer.isProof(of: "Password", by: "USERDomain", challenge: challenge))
    }

    @Test func `a list of attributes that breaks off is read as far as it stands`() throws {
        let whole = NTLMPeer.list([(2, [1, 2]), (7, Array(repeating: 5, count: 8))])
        for length in 0...whole.count {
            let part = Array(whole.prefix(length))
            let information = NTLMMessage.Challenge.TargetInformation(part.span)
            let expected = length < 6 ? [] : length < 18 ? [2] : [2, 7]
            #expect(information.attributes.map { Int($0.identifier) } == expected)
        }
        #expect(NTLMMessage.Challenge.TargetInformation(whole.span).bytes == whole)
    }

    @Test func `a login takes two legs, and then nothing more`() throws {
        let context = try context()
        _ = try said(context)
        #expect(context.refused(by: ntlm(NTLMPeer.challenge())) == .proceed)
        _ = try said(context)
        #expect(!context.isEstablished)
        #expect(context.accepted(by: [], persists: true) == .unverified)
        #expect(context.isEstablished)
    }

    @Test func `a login that was for one request begins again`() throws {
        let context = try context()
        _ = try said(context)
        _ = context.refused(by: ntlm(NTLMPeer.challenge()))
        _ = try said(context)
        #expect(context.accepted(by: [], persists: false) == .unverified)
        #expect(!context.isEstablished)
        #expect(context.isOpening)
    }

    @Test func `a login that is lost begins again`() throws {
        let context = try context()
        _ = try said(context)
        _ = context.refused(by: ntlm(NTLMPeer.challenge()))
        _ = try said(context)
        _ = context.accepted(by: [], persists: true)
        #expect(context.refused(by: challenges(#"Basic realm="r""#)) == .unrelated)
        #expect(context.isEstablished)
        #expect(context.refused(by: ntlm()) == .retry)
        #expect(context.isOpening)
        #expect(try said(context) == NTLMMessage.negotiate)
    }

    @Test(arguments: ["NTLM", "Negotiate", #"Basic realm="r""#, "NTLM AAAA"])
    func `any challenge to the third message refuses it`(challenge: String) throws {
        let context = try context()
        _ = try said(context)
        _ = context.refused(by: ntlm(NTLMPeer.challenge()))
        _ = try said(context)
        #expect(context.refused(by: challenges(challenge)) == .refused)
        #expect(throws: AuthenticationError.self) { try said(context) }
    }

    @Test(arguments: ["NTLM", "Negotiate", "NTLM AAAA", "NTLM !", #"NTLM realm="r""#])
    func `a first message that brings no challenge ends the handshake, and says nothing of the password`(
        challenge: String
    ) throws {
        let context = try context()
        _ = try said(context)
        #expect(context.refused(by: challenges(challenge)) == .aborted)
        #expect(throws: AuthenticationError.self) { try said(context) }
    }

    @Test func `a server that does not ask for the login has not judged it`() throws {
        let context = try context()
        _ = try said(context)
        #expect(context.accepted(by: [], persists: true) == .ignored)
        #expect(!context.isEstablished)
    }

    @Test func `a user that nobody is cannot be used`() {
        #expect(throws: AuthenticationError.unsuitableCredential(credential: "test", method: .ntlm)) {
            try context(user: "Domain\\")
        }
    }

    /// Invariant: no message of a server traps the reader, and a valid one is answered correctly.
    @Test func `no second message traps`() throws {
        var random = SystemRandomNumberGenerator()
        let whole = NTLMPeer.challenge()
        var messages = (0...whole.count).map { Array(whole.prefix($0)) }
        for _ in 0..<20_000 {
            var bytes = Bool.random(using: &random) ? whole : Array(whole.prefix(.random(in: 0...whole.count)))
            for _ in 0..<Int.random(in: 1...6) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = [0, 1, 0x7F, 0x80, 0xFF, .random(in: 0...255)].randomElement() ?? 0
            }
            messages.append(bytes)
        }
        for bytes in messages {
            let context = try context()
            _ = try said(context)
            guard context.refused(by: ntlm(bytes)) == .proceed else { continue }
            let answer = NTLMPeer.Answer(bytes: try said(context))
            #expect(answer.information[9] == Array(utf16: "HTTP/host.example"))
            #expect(answer.information[10]?.count == 16)
        }
    }
}
