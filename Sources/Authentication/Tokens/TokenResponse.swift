import Bytes
import Crypto
import Model

/// The token in an endpoint's response (RFC 6749 section 5).
public struct TokenResponse: Sendable {
    public let token: Secret
    /// Whether the token may be sent to an origin. Others are for further token requests only (RFC 8693 section 2.2.1).
    public let isBearer: Bool
    /// The lifetime, at least a second. Nil if the endpoint sends none, or one of zero or less, as some
    /// do for a token without expiry. A token that is already expired would be fetched again and again.
    public let lifetime: Milliseconds?
    /// The refresh token that replaces the one sent (section 6); nil: that one stays valid.
    public let refreshToken: Secret?
    /// The scopes that the token was asked for, for a registry's token; nil for others.
    let scopes: RegistryScopes?

    /// The limit of a lifetime: a year.
    private static let lifetimeLimit = Double(Milliseconds.days(366).count)

    /// The errors that concern the grant or the client (section 5.2, RFC 8707 section 2). Other errors, such as too
    /// many requests, may be temporary.
    private static let refusals = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "invalid_target",
    ].map { Array($0.utf8) }

    /// A registry's token.
    init(token: Secret, lifetime: Milliseconds, scopes: RegistryScopes) {
        self.token = token
        self.lifetime = lifetime
        self.scopes = scopes
        isBearer = true
        refreshToken = nil
    }

    /// - Parameters:
    ///   - status: the status of the response.
    ///   - content: the content of the response; wiped.
    ///   - retryAfter: the value of `Retry-After`; nil if absent.
    ///   - isExchange: whether the token may be of another type than Bearer.
    public init(
        status: Int, content: inout [UInt8], from endpoint: HTTPEndpoint, isExchange: Bool = false,
        retryAfter: Milliseconds? = nil
    ) throws(TokenError) {
        defer { _ = Secret(wiping: &content) }
        let url = "\(endpoint)"
        let members = JSONMembers(content)
        guard (200..<300).contains(status) else {
            guard (400..<500).contains(status), let code = members?.text("error"), Self.refusals.contains(code) else {
                throw .status(endpoint: url, status, retryAfter: retryAfter)
            }
            throw .refused(
                endpoint: url, code: Self.printable(code),
                words: members?.text("error_description").map(Self.printable))
        }
        guard let members else { throw .malformed(endpoint: url, "is not a JSON object") }
        guard var token = members.text("access_token"), !token.isEmpty,
            token.allSatisfy({ $0 > .space && $0 < .delete })
        else { throw .malformed(endpoint: url, "has no usable access_token") }
        isBearer = Self.isBearer(members["token_type"])
        guard isBearer || isExchange else { throw .notBearer(endpoint: url) }
        self.token = Secret(wiping: &token)
        scopes = nil
        refreshToken = members.text("refresh_token").flatMap { text in
            var text = text
            return text.isEmpty ? nil : Secret(wiping: &text)
        }
        lifetime = Self.lifetime(members["expires_in"])
    }

    /// The lifetime; nil if it is missing, zero or less.
    static func lifetime(_ value: JSONMembers.Value?) -> Milliseconds? {
        let seconds: Double? =
            switch value {
            case .number(let seconds): seconds
            // Some endpoints send it as a string.
            case .text(let digits): Int(digits.span.text).map { Double($0) }
            case .object, .array, nil: nil
            }
        return seconds.flatMap { $0 > 0 ? Milliseconds(Int(min(max($0 * 1000, 1000), Self.lifetimeLimit))) : nil }
    }

    /// Whether the token is a bearer token (RFC 6750). Some endpoints omit the type, and Apigee sends `BearerToken`.
    private static func isBearer(_ type: JSONMembers.Value?) -> Bool {
        switch type {
        case .text(let type): type.span.equalsIgnoringCase("bearer") || type.span.equalsIgnoringCase("bearertoken")
        case .number, .object, .array: false
        case nil: true
        }
    }

    /// An endpoint's text, made safe for a line of a log.
    static func printable(_ text: [UInt8]) -> String {
        let scalars = String(decoding: text.prefix(200), as: UTF8.self).unicodeScalars
        return String(String.UnicodeScalarView(scalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }
}

/// The reason why there is no token. The sentences contain no secret, and follow "credential NAME has no token: ".
public enum TokenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The endpoint refused the grant or the client.
    case refused(endpoint: String, code: String, words: String?)
    /// The endpoint is not asked: it has refused the grant or the client, whose account waits for the next try.
    ///
    /// - Parameters:
    ///   - reason: the account's reason; nil if none.
    ///   - pause: the time until the next try; nil: not until the value is set again.
    case held(reason: String?, pause: Milliseconds?)
    /// The endpoint is not asked: the verdict on another process's request for the grant did not come in time.
    case undecided
    /// The endpoint had an error, or its response is not one of RFC 6749 section 5.
    ///
    /// - Parameter retryAfter: the time before which it wants no other request; nil if it does not say.
    case status(endpoint: String, Int, retryAfter: Milliseconds? = nil)
    case malformed(endpoint: String, String)
    /// No connection, no trust, or no answer in time.
    case unreachable(endpoint: String, String)
    /// The token endpoint could not be found; the text says why.
    ///
    /// - Parameter isDefinite: whether the issuer's metadata must change first.
    case undiscovered(issuer: String, String, isDefinite: Bool)
    /// The server has not told which token it wants, or wants one that the rule file does not allow.
    case unannounced(String, isDefinite: Bool)
    /// The refresh token could not be claimed; the text says why.
    case unclaimed(String)
    /// A token that the request needs is missing; the text says why.
    case noInput(String, isTransient: Bool = false)
    case unusableKey
    case noRandomness

    /// Whether the endpoint refused the grant itself, such as an expired refresh token.
    public var isInvalidGrant: Bool {
        if case .refused(_, code: "invalid_grant", _) = self { true } else { false }
    }

    static func notBearer(endpoint: String) -> TokenError {
        .malformed(endpoint: endpoint, "has a token_type other than Bearer")
    }

    /// Whether the refusal may be about a token in the request, which may have been replaced meanwhile.
    public var mayConcernInputs: Bool {
        switch self {
        case .refused(_, code: "invalid_grant", _), .refused(_, code: "invalid_client", _),
            .refused(_, code: "invalid_request", _):
            true
        default: false
        }
    }

    /// Whether the token endpoint may have moved, so that its issuer's metadata is worth another look.
    public var mayHaveMoved: Bool {
        switch self {
        case .status(_, 404, _), .refused(_, code: "invalid_client", _): true
        default: false
        }
    }

    /// The time before which the endpoint wants no other request, at most an hour; nil if it does not say.
    var pause: Milliseconds? {
        guard case .status(_, _, let time?) = self else { return nil }
        return min(max(time, .seconds(1)), .hours(1))
    }

    /// Whether the endpoint has refused the grant or the client, now or before.
    public var isRefusal: Bool {
        switch self {
        case .refused, .held: true
        case .undecided, .status, .malformed, .unreachable, .undiscovered, .unannounced, .unclaimed, .noInput,
            .unusableKey,
            .noRandomness:
            false
        }
    }

    /// Whether the same request may succeed later, though nothing is changed: a server could not be reached, or had an error.
    public var isTransient: Bool {
        switch self {
        case .status(_, let status, _): status == 429 || status >= 500
        case .undiscovered(_, _, let isDefinite), .unannounced(_, let isDefinite): !isDefinite
        case .noInput(_, let isTransient): isTransient
        case .undecided, .unreachable, .unclaimed: true
        case .refused, .held, .malformed, .unusableKey, .noRandomness: false
        }
    }

    /// The text about a refusal for the account of the grant; nil for other errors.
    public var reason: String? {
        guard case .refused(let endpoint, let code, let words) = self else { return nil }
        return "was refused by \(endpoint) (\(code)\(words.map { ": \($0)" } ?? ""))"
    }

    public var description: String {
        switch self {
        case .refused: "it \(reason ?? "was refused")"
        case .held(let reason, let pause):
            "it \(reason ?? "was refused") and is on hold"
                + (pause.map { ": the next try is in \(ChallengeTask.PassReason.words($0))" }
                    ?? " until you set its value again")
        case .undecided: "another request for it took too long"
        case .status(let endpoint, let status, _): "\(endpoint) answered with status \(status)"
        case .malformed(let endpoint, let what): "the answer of \(endpoint) \(what)"
        case .unreachable(let endpoint, let why): "cannot reach \(endpoint): \(why)"
        case .undiscovered(let issuer, let why, _): "cannot find the token endpoint of \(issuer): \(why)"
        case .unclaimed(let why): "its refresh token may be in use: \(why)"
        case .noInput(let why, _), .unannounced(let why, _): why
        case .unusableKey: "its key cannot sign"
        case .noRandomness: "the system gave no random bytes"
        }
    }
}
