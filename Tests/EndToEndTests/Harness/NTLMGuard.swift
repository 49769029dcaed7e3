import Foundation
import Synchronization

/// The server's side of NTLM on one origin, with the whims of real ones. It checks the proof with the `openssl` command,
/// the lengths and the order of messages, and that no connection changes its user.
final class NTLMGuard: Sendable {
    struct Terms: Sendable {
        /// The login holds for the request that made it only; `Persistent-Auth` says so, or is left out.
        var losesLogin = false
        var saysSo = false
        /// The response that ends a connection, counted from 1; nil where connections stay.
        var closesEvery: Int?
        /// The challenge comes on a connection that ends.
        var closesOnChallenge = false
        /// How many connections give up right behind the challenge, without an answer to the third message.
        var dropsAfterChallenge = 0
        /// Bytes that a response after the login has at least.
        var contentSize = 0
        /// A path that asks for nothing.
        var openPath: String?
        /// A path whose response, after the login, waits for the gate.
        var slow: (path: String, gate: Gate)?
        var hold = Hold()
        /// The status instead of a challenge, for the first message; nil for a second message as it should be.
        var answersFirstMessageWith: String?
        /// The SHA-256 of the certificate to which answers have to be bound, as hexadecimal text; nil where they are bound
        /// to none.
        var certificate: String?
        /// Whether it is a parent proxy, which asks in words of its own.
        var isParent = false

        var status: String { isParent ? "407 Proxy Authentication Required" : "401 Unauthorized" }
        var challengeField: String { isParent ? "Proxy-Authenticate" : "WWW-Authenticate" }
        var answerField: String { isParent ? "Proxy-Authorization" : "Authorization" }
    }

    /// One connection's state.
    enum Login: Equatable {
        case none
        case challenged
        case established
    }

    private struct State {
        var password = Account.password
        var logins = 0
        var faults: [String] = []
        var drops: Int
    }

    let terms: Terms
    private let state: Mutex<State>

    init(_ terms: Terms = Terms()) {
        self.terms = terms
        state = Mutex(State(drops: terms.dropsAfterChallenge))
    }

    /// Third messages that proved the password.
    var logins: Int { state.withLock { $0.logins } }
    /// The faults that a strict server would report, wrong passwords included.
    var faults: [String] { state.withLock { $0.faults } }

    /// The number of logins with a wrong password.
    var wrong: Int { faults.count { $0 == "a wrong password" } }

    /// Sets the password that is right from now on. Connections stay logged in.
    func change(to password: String) { state.withLock { $0.password = password } }

    private func complain(_ fault: String) { state.withLock { $0.faults.append(fault) } }

    /// Serves one connection.
    func serve(_ connection: RecordingOrigin.Connection) throws {
        var login = Login.none
        var count = 0
        while let head = try connection.requestHead() {
            count += 1
            let closes = terms.closesEvery.map { count % $0 == 0 } ?? false
            let ending = closes ? ["Connection: close"] : []
            let token = head[terms.answerField].flatMap(Self.token)
            if head.target == terms.openPath {
                let request = try content(of: head, connection)
                try connection.reply("200 OK", ending, "received \(request.body.count)")
            } else if let token, token.count > 8, token[8] == 1 {
                if token.count != 40 { complain("a first message of \(token.count) bytes") }
                if login == .challenged { complain("a first message in the middle of a handshake") }
                if head.method == "POST", head["Content-Length"] != "0" { complain("a first message with a body") }
                if head["Expect"] != nil { complain("a first message with an expectation") }
                if let status = terms.answersFirstMessageWith {
                    try connection.reply(status, ending, "you need not")
                } else {
                    login = .challenged
                    let isLast = closes || terms.closesOnChallenge
                    let challenge = [
                        "\(terms.challengeField): NTLM \(Self.challenge)", "\(terms.challengeField): Negotiate",
                    ]
                    try connection.reply(
                        terms.status, challenge + (isLast ? ["Connection: close"] : []), "in two legs")
                    if isLast { return }
                    let isDropped = state.withLock { state in
                        state.drops -= 1
                        return state.drops >= 0
                    }
                    if isDropped { return }
                }
            } else if let token {
                if login != .challenged { complain("a third message out of turn") }
                let request = try content(of: head, connection)
                let isRefused = terms.hold.refuses(head)
                guard try !isRefused && isProof(token) else {
                    if !isRefused { complain("a wrong password") }
                    try connection.reply(terms.status, ["\(terms.challengeField): NTLM"] + ending, "wrong")
                    login = .none
                    if closes { return }
                    continue
                }
                state.withLock { $0.logins += 1 }
                login = terms.losesLogin ? .none : .established
                let word = terms.saysSo ? ["Persistent-Auth: \(!terms.losesLogin)"] : []
                try connection.reply("200 OK", word + ending, received(request))
            } else if login == .established {
                let request = try content(of: head, connection)
                if let slow = terms.slow, slow.path == head.target { slow.gate.wait() }
                try connection.reply("200 OK", ending, received(request))
            } else {
                if login == .challenged { complain("another request in the middle of a handshake") }
                _ = try head["Expect"] == nil ? connection.wire.readContent(of: head) : head
                let fields = ["\(terms.challengeField): Negotiate", "\(terms.challengeField): NTLM"]
                try connection.reply(terms.status, fields + ending, "who are you?")
            }
            if closes { return }
        }
    }

    private func received(_ request: Message) -> String {
        let text = "received \(request.body.count)"
        return text + String(repeating: " ", count: max(0, terms.contentSize - text.utf8.count))
    }

    private func content(of head: Message, _ connection: RecordingOrigin.Connection) throws -> Message {
        if head["Expect"] != nil { try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n") }
        return try connection.wire.readContent(of: head)
    }

    // MARK: - Messages

    private static func token(_ field: String) -> [UInt8]? {
        guard field.hasPrefix("NTLM "), let data = Data(base64Encoded: String(field.dropFirst(5))) else { return nil }
        return Array(data)
    }

    private static let serverChallenge: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    /// Unicode, with the domain's name and a time ([MS-NLMP] section 2.2.1.2).
    private static let challenge: String = {
        let name = Array("D\0".utf8)
        let information: [UInt8] = [2, 0, 2, 0] + name + [7, 0, 8, 0, 1, 1, 1, 1, 1, 1, 1, 1] + [0, 0, 0, 0]
        var bytes = Array("NTLMSSP\0".utf8) + [2, 0, 0, 0] + [2, 0, 2, 0, 48, 0, 0, 0]
        bytes += [0x05, 0x82, 0x89, 0xA2] + serverChallenge + Array(repeating: 0, count: 8)
        let length = UInt8(information.count)
        bytes += [length, 0, length, 0, 50, 0, 0, 0] + name + information
        return Data(bytes).base64EncodedString()
    }()

    /// Whether a third message proves the account's password by NTLMv2 (section 3.3.2).
    private func isProof(_ message: [UInt8]) throws -> Bool {
        let field = { (offset: Int) -> [UInt8] in
            guard message.count >= offset + 8 else { return [] }
            let length = Int(message[offset]) | Int(message[offset + 1]) << 8
            let start = Int(message[offset + 4]) | Int(message[offset + 5]) << 8
            return start + length <= message.count ? Array(message[start..<start + length]) : []
        }
        let (response, domain, user) = (field(20), field(28), field(36))
        guard response.count > 44, response[16] == 1 else { return false }
        let text = { (bytes: [UInt8]) in
            String(decoding: bytes.enumerated().filter { $0.offset % 2 == 0 }.map(\.element), as: UTF8.self)
        }
        let identity = Self.utf16(text(user).uppercased() + text(domain))
        let hash = try Self.digest(["-md4", "-provider", "legacy"], Self.utf16(state.withLock { $0.password }))
        let key = try Self.digest(Self.keyed(hash), identity)
        if try Self.attribute(10, of: response) != binding() { complain("the channel") }
        return try Self.digest(Self.keyed(key), Self.serverChallenge + response[16...]) == Array(response[..<16])
    }

    /// The channel binding that the answer must have: zeros without TLS, else the MD5 of the structure of RFC 2744
    /// section 3.11 with `tls-server-end-point` (RFC 5929) in it.
    private func binding() throws -> [UInt8] {
        guard let certificate = terms.certificate else { return Array(repeating: 0, count: 16) }
        let hash = stride(from: 0, to: certificate.count, by: 2).compactMap {
            UInt8(certificate.dropFirst($0).prefix(2), radix: 16)
        }
        let data = Array("tls-server-end-point:".utf8) + hash
        return try Self.digest(
            ["-md5"], Array(repeating: 0, count: 16) + [UInt8(data.count), 0, 0, 0] + data)
    }

    /// An attribute of the target information in an answer (section 2.2.2.7).
    private static func attribute(_ identifier: UInt8, of response: [UInt8]) throws -> [UInt8]? {
        var offset = 44
        while offset + 4 <= response.count, response[offset] != 0 {
            let length = Int(response[offset + 2]) | Int(response[offset + 3]) << 8
            guard offset + 4 + length <= response.count else { return nil }
            if response[offset] == identifier { return Array(response[offset + 4..<offset + 4 + length]) }
            offset += 4 + length
        }
        return nil
    }

    private static func utf16(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    private static func keyed(_ key: [UInt8]) -> [String] {
        ["-md5", "-mac", "HMAC", "-macopt", "hexkey:" + key.map { String(format: "%02x", $0) }.joined()]
    }

    private static func digest(_ options: [String], _ bytes: [UInt8]) throws -> [UInt8] {
        let file = "\(Scratch.root)/hash.\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        defer { unlink(file) }
        let output = "\(file).digest"
        defer { unlink(output) }
        let run = try Finished.run("openssl", ["dgst", "-binary", "-out", output] + options + [file])
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return Scratch.bytes(output)
    }
}

extension RecordingOrigin {
    /// An origin whose every connection logs in by NTLM.
    static func guarded(by sentry: NTLMGuard) throws -> RecordingOrigin {
        try RecordingOrigin { try sentry.serve($0) }
    }
}
