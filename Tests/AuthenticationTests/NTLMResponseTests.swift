import Bytes
import Crypto
import Testing

@testable import Authentication

@Suite struct NTLMResponseTests {
    /// [MS-NLMP] section 4.2.1: the values that all its examples share.
    let account = NTLMMessage.Authenticate.Account("Domain\\User")
    let serverChallenge = Hex.decode("0123456789abcdef") ?? []
    let clientChallenge = Hex.decode("aaaaaaaaaaaaaaaa") ?? []
    let targetInformation = Hex.decode("02000c0044006f006d00610069006e0001000c0053006500720076006500720000000000") ?? []

    private func hex(_ bytes: [UInt8]) -> String { Hex.encode(bytes) }

    /// [MS-NLMP] section 4.2.2.1.2, and computed with Python's `hashlib` over UTF-16.
    @Test(arguments: [
        ("Password", "a4f49c406510bdcab6824ee7c30fd852"), ("", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        ("a", "186cb09181e2c2ecaac768c47c729904"), ("päss€", "452468b2e855e49f1169698e4c086623"),
        ("🔑key", "08636ad2dbbe22210305db7278de577f"),
    ])
    func `a password's hash agrees with the published and computed ones`(password: String, hash: String) throws {
        #expect(hex(try NTLMMessage.Authenticate.Response.passwordHash(of: Secret(password)).array) == hash)
    }

    /// [MS-NLMP] sections 4.2.4.1 and 4.2.4.2.
    @Test func `the published NTLMv2 answer comes out`() throws {
        let key = try NTLMMessage.Authenticate.Response.key(for: #require(account), password: Secret("Password"))
        #expect(hex(key.withBytes { $0.array }) == "0c868a403bfd7a93a3001ef22ef02e3f")
        let response = NTLMMessage.Authenticate.Response(
            key: key, serverChallenge: serverChallenge, clientChallenge: clientChallenge,
            time: Array(repeating: 0, count: 8), targetInformation: targetInformation, sendsLM: true)
        #expect(hex(response.lm) == "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa")
        #expect(
            hex(response.nt)
                == "68cd0ab851e51c96aabc927bebef6a1c01010000000000000000000000000000aaaaaaaaaaaaaaaa00000000"
                + "02000c0044006f006d00610069006e0001000c005300650072007600650072000000000000000000")
        #expect(hex(response.sessionKey.array) == "8de40ccadbc14a82f15cb0ad0de95ca3")
    }

    @Test func `where the server knows the time, the older response is zero`() throws {
        let key = try NTLMMessage.Authenticate.Response.key(for: #require(account), password: Secret("Password"))
        let response = NTLMMessage.Authenticate.Response(
            key: key, serverChallenge: serverChallenge, clientChallenge: clientChallenge,
            time: Array(repeating: 0, count: 8), targetInformation: targetInformation, sendsLM: false)
        #expect(response.lm == Array(repeating: 0, count: 24))
    }

    /// Computed with Python's `hashlib` from RFC 5929 section 4.1 and [MS-NLMP] section 2.2.2.1; the bytes of the
    /// certificate are the text `certificate-der-stands-here`.
    @Test func `a channel's hash agrees with the computed one`() {
        let certificate = MessageDigest.digest(.sha256, of: "certificate-der-stands-here".utf8Span.span)
        let channel = ChannelBinding(tlsServerEndPoint: certificate.array)
        #expect(
            hex(channel.applicationData)
                == "746c732d7365727665722d656e642d706f696e743a"
                + "a11f4bcc135c07eaf7c33f51cffb295ea7c90b85191514aba178a16d6e80825e")
        #expect(hex(NTLMAuthenticator.hash(channel)) == "fe99ec6102fea381ff20d47610861fff")
    }

    @Test(arguments: [
        ("CORP\\builder", "CORP", "builder"), ("builder@corp.example", "", "builder@corp.example"),
        ("builder", "", "builder"), ("CORP\\a\\b", "CORP", "a\\b"), ("\\builder", "", "builder"),
    ])
    func `a user is written in three ways`(name: String, domain: String, user: String) {
        let account = NTLMMessage.Authenticate.Account(name)
        #expect(account?.domain == domain)
        #expect(account?.user == user)
    }

    @Test(arguments: ["", "CORP\\"])
    func `nobody is no user`(name: String) { #expect(NTLMMessage.Authenticate.Account(name) == nil) }

    /// Windows maps character by character, so neither ß nor the dotless ı becomes ASCII.
    @Test(arguments: [
        ("user", "USER"), ("Jäsøn", "JÄSØN"), ("straße", "STRAßE"), ("ılk", "ıLK"), ("ÿ", "Ÿ"), ("𐐨", "𐐨"),
    ])
    func `a name is capitalised as Windows does it`(user: String, upper: String) {
        #expect(NTLMMessage.Authenticate.Account("D\\" + user)?.identity == Array(utf16: upper + "D"))
    }
}
