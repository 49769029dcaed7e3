import Bytes
import Crypto
import Model
import Synchronization

/// The tokens that registries have asked for: for each credential and part of a registry, the scopes to ask for. It
/// contains no token.
public final class RegistryTokens: Sendable {
    private struct Key: Hashable {
        let credential: CredentialVersion
        let origin: Origin
        let place: RegistryPlace
    }

    private struct Entry {
        /// The credential with the grant of exactly this token.
        let exact: Credential
        let scopes: RegistryScopes
        /// The number of the latest use.
        var usedAt: UInt64
    }

    /// A token server, and who asks it.
    private struct Asker: Hashable {
        let credential: CredentialVersion
        /// The URL without its query.
        let server: String
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The token servers that want no request for a while: the status, and the end.
        var pauses: [Asker: (status: Int, end: WallTime)] = [:]
        var uses: UInt64 = 0

        mutating func nextUse() -> UInt64 {
            uses &+= 1
            return uses
        }
    }

    private let state = Mutex(State())

    private static let (capacity, pauseCapacity) = (1024, 128)

    public init() {}

    /// Keeps the time for which a token server wants no request, for any repository (`Retry-After`).
    public func notePause(
        _ error: TokenError, for credential: CredentialVersion, at server: HTTPEndpoint, now: WallTime
    ) {
        guard case .status(_, let status, _?) = error, let pause = error.pause else { return }
        let asker = Asker(credential: credential, server: server.withoutQuery)
        state.withLock { state in
            if state.pauses.count >= Self.pauseCapacity { state.pauses = state.pauses.filter { now < $0.value.end } }
            guard state.pauses.count < Self.pauseCapacity || state.pauses[asker] != nil else { return }
            state.pauses[asker] = (status, now + pause)
        }
    }

    /// The error of a token server that wants no request yet; nil if it can be asked.
    public func pause(for credential: CredentialVersion, at server: HTTPEndpoint, now: WallTime) -> TokenError? {
        let url = server.withoutQuery
        guard let pause = state.withLock({ $0.pauses[Asker(credential: credential, server: url)] }), now < pause.end
        else { return nil }
        return .status(endpoint: url, pause.status, retryAfter: .seconds((pause.end - now + 999).seconds))
    }

    /// The credential for exactly the token that the registry asked for there; nil if it has not asked.
    public func exact(for credential: CredentialVersion, at origin: Origin, _ place: RegistryPlace) -> Credential? {
        let key = Key(credential: credential, origin: origin, place: place)
        return state.withLock { state in
            guard let exact = state.entries[key]?.exact else { return nil }
            let use = state.nextUse()
            state.entries[key]?.usedAt = use
            return exact
        }
    }

    /// Keeps the token for the place. The place that was used least recently is forgotten.
    public func put(
        _ exact: Credential, _ scopes: RegistryScopes, for credential: CredentialVersion, at origin: Origin,
        _ place: RegistryPlace
    ) {
        let key = Key(credential: credential, origin: origin, place: place)
        state.withLock { state in
            if state.entries.count >= Self.capacity, state.entries[key] == nil,
                let oldest = state.entries.min(by: { $0.value.usedAt < $1.value.usedAt })
            {
                state.entries[oldest.key] = nil
            }
            state.entries[key] = Entry(exact: exact, scopes: scopes, usedAt: state.nextUse())
        }
    }

    /// The known tokens of the same token server and service that serve a request for these scopes.
    public func covering(
        _ scopes: RegistryScopes, as grant: TokenGrant, for credential: CredentialVersion, at origin: Origin
    ) -> [(exact: Credential, scopes: RegistryScopes)] {
        if scopes.isEmpty { return [] }
        return state.withLock { state in
            state.entries.compactMap { key, entry in
                guard key.credential == credential, key.origin == origin, entry.scopes.covers(scopes),
                    let known = entry.exact.grant, known.server == grant.server, known.audience == grant.audience
                else { return nil }
                return (entry.exact, entry.scopes)
            }
        }
    }
}

extension TokenRequest {
    /// The URL of a registry's token, for a GET (the distribution project's token specification). Every byte that the
    /// registry has named is encoded.
    public static func url(of grant: TokenGrant, at server: HTTPEndpoint) -> HTTPEndpoint? {
        var query: [String] = []
        let add = { (name: String, value: String) in
            query.append("\(name)=\(PercentEncoding.encode(value.utf8).span.text)")
        }
        if let service = grant.audience { add("service", service) }
        for scope in grant.scopes { add("scope", scope) }
        if query.isEmpty { return server }
        let separator = !server.target.contains("?") ? "?" : server.target.hasSuffix("?") ? "" : "&"
        return HTTPEndpoint("\(server)\(separator)\(query.joined(separator: "&"))")
    }

    /// The value of `Authorization` for a user and a password (RFC 7617).
    public static func basic(_ login: Credential) -> Secret? {
        guard let user = login.user, let password = login.password else { return nil }
        var pair = Array(user.utf8) + [.colon] + password.withBytes { $0.array }
        defer { _ = Secret(wiping: &pair) }
        return Secret("Basic \(Base64.encode(pair))")
    }
}

extension TokenResponse {
    /// Reads the response of a registry's token server.
    ///
    /// - Parameters:
    ///   - grant: the grant that the request was made of.
    ///   - retryAfter: the value of `Retry-After`; nil if absent.
    public init(
        status: Int, content: inout [UInt8], for grant: TokenGrant, from server: HTTPEndpoint,
        retryAfter: Milliseconds?,
        at now: WallTime
    ) throws(TokenError) {
        defer { _ = Secret(wiping: &content) }
        let url = server.withoutQuery
        let members = JSONMembers(content)
        guard (200..<300).contains(status) else {
            guard status == 401 || status == 403, case .registry(_?) = grant.kind else {
                throw .status(endpoint: url, status, retryAfter: retryAfter)
            }
            let words = members?.objects("errors")?.first?.text("message") ?? members?.text("details")
            throw .refused(endpoint: url, code: "status \(status)", words: words.map(Self.printable))
        }
        guard let members else { throw .malformed(endpoint: url, "is not a JSON object") }
        let texts = ["token", "access_token"].compactMap { members.text($0) }
        guard var token = texts.first(where: { !$0.isEmpty }), token.allSatisfy({ $0 > .space && $0 < .delete }) else {
            throw .malformed(endpoint: url, "has no usable token")
        }
        let lifetime = Self.lifetime(members["expires_in"]) ?? .minutes(1)
        self.init(
            token: Secret(wiping: &token), lifetime: Self.rest(of: lifetime, issuedAt: members.text("issued_at"), now),
            scopes: RegistryScopes(grant.scopes.joined(separator: " ").utf8))
    }

    /// The rest of the lifetime of a token that was issued earlier. A time of another clock is ignored.
    private static func rest(of lifetime: Milliseconds, issuedAt time: [UInt8]?, _ now: WallTime) -> Milliseconds {
        guard let time, let issued = InternetTime.time(time.span), issued < now, now - issued < lifetime else {
            return lifetime
        }
        return max(.seconds(1), lifetime - (now - issued))
    }
}

extension HTTPEndpoint {
    /// The URL without its query, for sentences.
    public var withoutQuery: String { String("\(self)".prefix { $0 != "?" }) }
}
