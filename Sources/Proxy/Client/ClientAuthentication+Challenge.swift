import Authentication
import Credentials
import Crypto
import HTTP
import IO
import Rules
import Upstream

extension ClientAuthentication {
    /// The parameters of `Bearer` beside its realm (RFC 6750 section 3).
    enum BearerError: String {
        case invalidRequest = "invalid_request"
        case invalidToken = "invalid_token"
    }

    /// The `407` with all challenges, one to a line: some clients read only the first of a line.
    /// - Parameters:
    ///   - isStale: the client knows the password, and needs only another nonce.
    ///   - bearerError: nil when no token came.
    func challenge(_ sentence: String, isStale: Bool = false, bearerError: BearerError? = nil) -> Refusal {
        var refusal = Refusal(.proxyAuthenticationRequired, .httpRequestDenied, sentence)
        for method in methods {
            switch method {
            case .basic: refusal.add("Basic realm=\(quotedRealm), charset=\"UTF-8\"")
            case .digest: for challenge in digestChallenges(isStale: isStale) { refusal.add(challenge) }
            case .negotiate: refusal.add("Negotiate")
            case .bearer:
                refusal.add("Bearer realm=\(quotedRealm)" + (bearerError.map { ", error=\"\($0.rawValue)\"" } ?? ""))
            }
        }
        return refusal
    }

    /// The answer to credentials that could be no client's.
    func malformed(_ sentence: String) -> Refusal { Refusal(.badRequest, .httpRequestError, sentence) }

    /// The strongest first, as a client that knows several takes the first that it knows (RFC 7616 section 3.7). There
    /// is no SHA-512-256 among them: curl gives up where that comes first, and htdigest lines of it could not be told
    /// from those of SHA-256. The charset says that names and passwords are meant in UTF-8 (section 4).
    private func digestChallenges(isStale: Bool) -> [String] {
        guard let nonces = accounts.nonces, let users = accounts.users else { return [] }
        return users.digestAlgorithms.compactMap { algorithm in
            guard let nonce = try? nonces.make(at: SystemClock.epochMilliseconds) else { return nil }
            let name = algorithm == .md5 ? "MD5" : "SHA-256"
            return "Digest realm=\(quotedRealm), qop=\"auth\", algorithm=\(name), nonce=\"\(nonce)\", charset=\"UTF-8\""
                + (isStale ? ", stale=true" : "")
        }
    }

    private var quotedRealm: String {
        let escaped = realm.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
        return "\"\(String(escaped))\""
    }
}

extension Refusal {
    fileprivate mutating func add(_ challenge: String) {
        fields.append((name: "Proxy-Authenticate", value: challenge))
    }
}
