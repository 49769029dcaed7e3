import Foundation
import Synchronization

/// The server's side of Digest (RFC 7616, and RFC 2069 when `qop` is nil). It checks everything a strict server checks:
/// the response value, `uri` against the request-target, and that no `nc` of a nonce is used twice.
final class DigestGuard: Sendable {
    struct Terms: Sendable {
        var realm = "guarded realm"
        /// The algorithm in the challenge; nil leaves the parameter out.
        var algorithm: String? = "SHA-256"
        var qop: String? = "auth"
        var domain: String?
        /// Each acceptance announces a new nonce; the old one is refused from then on.
        var sendsNextNonce = false
        /// A nonce is stale after so many uses.
        var usesPerNonce: Int?
        /// Each challenge has a nonce of its own, which is good for one answer; another is refused without a word of staleness.
        var noncePerChallenge = false
        /// An answer on another nonce gets a `401` without a challenge.
        var isSilentAboutNonces = false
        /// Each challenge has a nonce of its own, whose `nc` goes up by one with each answer (RFC 7616 section 3.4 lets servers
        /// insist).
        var countsStrictly = false
        var lies = false
        /// The content for an accepted request: `rspauth` covers it under `auth-int`.
        var content = "ok"
        var framing = Framing.length
    }

    enum Framing: String, Sendable, CaseIterable {
        case length
        case chunked
        case untilClose
    }

    enum Verdict {
        /// The value of `WWW-Authenticate`.
        case challenged(String)
        /// The value of `Authentication-Info`, nil under RFC 2069.
        case accepted(String?)
    }

    private struct State {
        var password = Account.password
        var nonce = UUID().uuidString
        var counts: Set<String> = []
        var staleNonces: Set<String> = []
        /// The nonces of unanswered challenges.
        var openNonces: Set<String> = []
        /// The last `nc` of each nonce.
        var counters: [String: Int] = [:]
        var unauthenticated = 0
        var refused: [String] = []
    }

    let terms: Terms
    private let state = Mutex(State())

    init(_ terms: Terms = Terms()) { self.terms = terms }

    /// Requests that came without an answer.
    var unauthenticated: Int { state.withLock { $0.unauthenticated } }
    /// Why answers were refused, stale ones not counted.
    var refused: [String] { state.withLock { $0.refused } }
    /// The number of answers to a nonce of this server whose response value was wrong.
    var wrong: Int { refused.count { $0 == "response" } }

    /// Sets the password that is right from now on. The counts of nonces go on.
    func change(to password: String) { state.withLock { $0.password = password } }

    func judge(_ request: Message) throws -> Verdict {
        guard let field = request["Authorization"], field.lowercased().hasPrefix("digest ") else {
            return state.withLock { state in
                state.unauthenticated += 1
                return .challenged(challenge(&state))
            }
        }
        let answer = Self.parameters(String(field.dropFirst(7)))
        let expected = try response(answer, method: request.method, body: request.text)
        let acknowledgement = try response(answer, method: "", body: terms.content)
        return state.withLock { state in
            let nonce = answer["nonce"] ?? ""
            if state.staleNonces.contains(nonce) { return .challenged(challenge(nonce: state.nonce, isStale: true)) }
            if let fault = fault(in: answer, request: request, expected: expected, state: &state) {
                state.refused.append(fault)
                if terms.isSilentAboutNonces, fault == "unknown nonce" { return .challenged("") }
                return .challenged(challenge(&state))
            }
            if let limit = terms.usesPerNonce, state.counts.count >= limit { renew(&state) }
            guard terms.qop != nil else { return .accepted(nil) }
            let value = terms.lies ? String(acknowledgement.reversed()) : acknowledgement
            if terms.lies {
                // The next challenge is a new one: what is counted per nonce begins again.
                state.nonce = UUID().uuidString
                state.counts = []
            }
            var info = "rspauth=\"\(value)\", qop=\(answer["qop"] ?? ""), cnonce=\"\(answer["cnonce"] ?? "")\""
            info += ", nc=\(answer["nc"] ?? "")"
            if terms.sendsNextNonce {
                renew(&state)
                info += ", nextnonce=\"\(state.nonce)\""
            }
            return .accepted(info)
        }
    }

    private func renew(_ state: inout State) {
        state.staleNonces.insert(state.nonce)
        state.nonce = UUID().uuidString
        state.counts = []
    }

    private func fault(
        in answer: [String: String], request: Message, expected: String, state: inout State
    ) -> String? {
        if terms.noncePerChallenge {
            if state.openNonces.remove(answer["nonce"] ?? "") == nil { return "unknown nonce" }
            state.counts = []
        } else if terms.countsStrictly {
            guard let last = state.counters[answer["nonce"] ?? ""] else { return "unknown nonce" }
            let count = Int(answer["nc"] ?? "", radix: 16) ?? 0
            if count != last + 1 { return "nc \(count) is out of turn" }
            state.counters[answer["nonce"] ?? ""] = count
            state.counts = []
        } else if answer["nonce"] != state.nonce {
            return "unknown nonce"
        }
        // A count is used also when the answer is wrong.
        let count = answer["nc"] ?? ""
        if terms.qop != nil, !state.counts.insert(count).inserted { return "nc \(count) repeated" }
        if answer["realm"] != terms.realm { return "realm" }
        if answer["uri"] != request.target { return "uri \(answer["uri"] ?? "") is not \(request.target)" }
        if answer["response"] != expected { return "response" }
        guard let qop = terms.qop else { return answer["qop"] == nil ? nil : "qop was not offered" }
        if !qop.split(separator: ",").contains(where: { $0.trimmingCharacters(in: .whitespaces) == answer["qop"] }) {
            return "qop \(answer["qop"] ?? "")"
        }
        return count.count == 8 ? nil : "nc \(count)"
    }

    private func challenge(_ state: inout State) -> String {
        guard terms.noncePerChallenge || terms.countsStrictly else {
            return challenge(nonce: state.nonce, isStale: false)
        }
        let nonce = UUID().uuidString
        state.openNonces.insert(nonce)
        state.counters[nonce] = 0
        return challenge(nonce: nonce, isStale: false)
    }

    private func challenge(nonce: String, isStale: Bool) -> String {
        var value = "Digest realm=\"\(terms.realm)\", nonce=\"\(nonce)\", opaque=\"b3BhcXVl\""
        if let algorithm = terms.algorithm { value += ", algorithm=\(algorithm)" }
        if let qop = terms.qop { value += ", qop=\"\(qop)\"" }
        if let domain = terms.domain { value += ", domain=\"\(domain)\"" }
        return isStale ? value + ", stale=true" : value
    }

    /// RFC 7616 section 3.4.1; with an empty method, the value of `rspauth` (section 3.5).
    private func response(_ answer: [String: String], method: String, body: String) throws -> String {
        let session = terms.algorithm?.lowercased().hasSuffix("-sess") ?? false
        let name = (terms.algorithm ?? "MD5").lowercased().replacing("-sess", with: "")
        let algorithm = ["sha-256": "sha256", "sha-512-256": "sha512-256"][name] ?? "md5"
        let nonce = answer["nonce"] ?? ""
        let cnonce = answer["cnonce"] ?? ""
        var first = try Hash.hex(algorithm, "\(Account.user):\(terms.realm):\(state.withLock { $0.password })")
        if session { first = try Hash.hex(algorithm, "\(first):\(nonce):\(cnonce)") }
        var second = "\(method):\(answer["uri"] ?? "")"
        if answer["qop"] == "auth-int" { second += ":" + (try Hash.hex(algorithm, body)) }
        second = try Hash.hex(algorithm, second)
        guard terms.qop != nil else { return try Hash.hex(algorithm, "\(first):\(nonce):\(second)") }
        let middle = "\(nonce):\(answer["nc"] ?? ""):\(cnonce):\(answer["qop"] ?? "")"
        return try Hash.hex(algorithm, "\(first):\(middle):\(second)")
    }

    /// Parameters of an `Authorization` value, names in lower case.
    static func parameters(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        var rest = text[...]
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].trimmingCharacters(in: CharacterSet(charactersIn: " ,")).lowercased()
            rest = rest[rest.index(after: equals)...]
            var value = ""
            if rest.first == "\"" {
                rest.removeFirst()
                while let character = rest.popFirst(), character != "\"" {
                    if character == "\\", let escaped = rest.popFirst() {
                        value.append(escaped)
                    } else {
                        value.append(character)
                    }
                }
            } else {
                value = rest.prefix { $0 != "," }.trimmingCharacters(in: .whitespaces)
                rest = rest.drop { $0 != "," }
            }
            found[name] = value
        }
        return found
    }
}

extension RecordingOrigin {
    /// An origin whose every resource asks for Digest and then answers `ok`.
    static func guarded(by sentry: DigestGuard, holding hold: Hold = Hold()) throws -> RecordingOrigin {
        try answering { request, connection in
            let isRefused = hold.refuses(request)
            switch try sentry.judge(isRefused ? Message(head: request.startLine) : request) {
            case .challenged(let value):
                let challenge = value.isEmpty ? [] : ["WWW-Authenticate: \(value)"]
                try connection.reply("401 Unauthorized", challenge, "who are you?")
            case .accepted(let info):
                let (fields, content) = (info.map { ["Authentication-Info: \($0)"] } ?? [], sentry.terms.content)
                switch sentry.terms.framing {
                case .length: try connection.reply("200 OK", fields, content)
                case .chunked: try connection.replyInChunks(fields, content)
                case .untilClose: try connection.replyAndClose(fields, content)
                }
            }
        }
    }
}

extension RecordingOrigin.Connection {
    fileprivate func replyInChunks(_ fields: [String], _ content: String) throws {
        var text = (["HTTP/1.1 200 OK"] + fields + ["Transfer-Encoding: chunked", "", ""]).joined(separator: "\r\n")
        var rest = Substring(content)
        while !rest.isEmpty {
            let piece = rest.prefix(1000)
            rest = rest.dropFirst(1000)
            text += String(piece.utf8.count, radix: 16) + ";x=y\r\n\(piece)\r\n"
        }
        try wire.send(text + "0\r\n\r\n")
    }

    fileprivate func replyAndClose(_ fields: [String], _ content: String) throws {
        try wire.send((["HTTP/1.1 200 OK"] + fields + ["Connection: close", "", content]).joined(separator: "\r\n"))
        throw Ended()
    }

    /// Thrown to end the script, and with it the connection.
    private struct Ended: Error {}
}
