import Authentication
import Bytes
import Credentials
import Crypto
import Forwarding
import HTTP
import IO
import Rules
import Telemetry

/// Digest (RFC 7616), against the users file's htdigest lines.
extension ClientAuthentication {
    /// Uses up the count of what is proved.
    func judgeDigest(_ credentials: Range<Int>, _ exchange: Exchange, of session: ClientSession) -> Judgement {
        guard let users = accounts.users, let nonces = accounts.nonces else { return .undecided }
        let (head, texts) = (exchange.headBytes, exchange.outbound)
        texts.clear()
        defer { texts.clear() }
        let value = head.readable.extracting(credentials)
        let digest: DigestAuthorization
        let (userEnd, realmEnd): (Int, Int)
        do throws(DigestAuthorization.Defect) {
            digest = try DigestAuthorization(value)
            try digest.appendUser(of: value, to: texts)
            userEnd = texts.count
            digest.appendRealm(of: value, to: texts)
            realmEnd = texts.count
            digest.appendTarget(of: value, to: texts)
        } catch { return .refused(malformed("\(error)")) }
        let user = texts.readable.extracting(0..<userEnd)
        let target = texts.readable.extracting(realmEnd..<texts.count)
        guard texts.readable.extracting(userEnd..<realmEnd).equals(realm.utf8Span.span) else {
            return .refused(challenge("the Digest credentials are for another realm"))
        }
        guard isTarget(target, of: exchange) else {
            return .refused(malformed("the uri in the Digest credentials is not that of the request"))
        }
        let account = users.digestKey(of: user, digest.algorithm)
        let method = head.readable.extracting(exchange.request.methodName)
        let proves = digest.proves(
            account?.key ?? Self.nobody, value: value, method: method, target: target)
        guard proves, let account else { return .refused(challenge("the user name or the password is wrong")) }
        let now = SystemClock.epochMilliseconds
        guard nonces.use(value.extracting(digest.nonce), count: digest.count, at: now) else {
            return .refused(
                challenge("the nonce of the Digest credentials has expired: use the new one", isStale: true))
        }
        note(account.name, exchange, of: session)
        let information = exchange.texts.fieldValue
        information.clear()
        digest.appendProof(account.key, value: value, target: target, to: information)
        if nonces.isLate(value.extracting(digest.nonce), at: now), let next = try? nonces.make(at: now) {
            information.append(", nextnonce=\"\(next)\"")
        }
        exchange.credentials.loginAnswer = LoginAnswer(
            name: "Proxy-Authentication-Info", value: information.readable.text)
        information.clear()
        return .proved
    }

    /// Section 3.4.6: the target as it was sent; or, of a whole URL, path and query, since curl has no other there.
    private func isTarget(_ uri: Span<UInt8>, of exchange: Exchange) -> Bool {
        let (head, target) = (exchange.headBytes, exchange.request.target)
        if uri.equals(head.readable.extracting(target.text)) { return true }
        guard target.form == .absolute else { return false }
        let path = head.readable.extracting(target.path)
        if uri.equals(path) { return true }
        // An empty path is sent as a slash.
        guard uri.count == path.count + 1, uri[0] == .slash else { return false }
        return path.isEmpty || path[0] != .slash && uri.extracting(1..<uri.count).equals(path)
    }

    /// A verifier that an unknown user's answer is held against, so that it takes as long as a known one's.
    private static let nobody = MessageDigest.digest(.sha256, of: [UInt8](repeating: 0, count: 32).span)
}
