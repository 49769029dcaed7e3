import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// The challenges of some lines.
func challenges(_ lines: String...) -> [HeaderChallenge] {
    var parser = ChallengeParser()
    for line in lines { parser.parse(line.utf8Span.span) }
    return parser.challenges
}

extension RequestAuthenticator {
    /// The field value for one request, and its ticket.
    func answer(
        method: String = "GET", target: String = "/", bodyDigest: [UInt8]? = nil
    ) throws -> (value: String, ticket: AuthorizationTicket) {
        let buffer = ByteBuffer(capacity: 64)
        let ticket = try authorize(
            method: method.utf8Span.span, target: target.utf8Span.span, bodyDigest: bodyDigest, into: buffer)
        return (buffer.readable.text, ticket)
    }

    func accepted(
        info: String?, ticket: AuthorizationTicket, target: String = "/", bodyDigest: [UInt8]? = nil
    ) -> Acceptance {
        guard let info else {
            return accepted(nil, ticket: ticket, target: target.utf8Span.span, bodyDigest: bodyDigest)
        }
        return accepted(info.utf8Span.span, ticket: ticket, target: target.utf8Span.span, bodyDigest: bodyDigest)
    }
}

extension Authenticator {
    /// The authenticator, if it answers request by request.
    var request: (any RequestAuthenticator)? {
        if case .request(let authenticator) = binding { authenticator } else { nil }
    }
}

extension AuthenticationScheme {
    func authenticator(
        _ challenge: String, isProxy: Bool = false, target: String = "/", user: String = "u", password: String = "p"
    ) throws -> any RequestAuthenticator {
        let parsed = challenges(challenge)
        let origin = Origin(host: "host", port: 80, protocol: .http, isProxy: isProxy)
        let made = try authenticator(
            for: parsed.first ?? HeaderChallenge(scheme: "none"),
            in: ProtectionSpace(origin: origin, realm: parsed.first?.realm, authenticationMethod: method),
            at: target.utf8Span.span,
            with: Credential(name: "test", user: user, password: Secret(password)))
        return try #require(made.request)
    }
}

/// The parameters of a Digest answer, with their quotes as they stand.
func parameters(_ value: String) -> [String: String] {
    var found: [String: String] = [:]
    for part in value.dropFirst("Digest ".count).split(separator: ", ") {
        guard let equals = part.firstIndex(of: "=") else { continue }
        found[String(part[..<equals])] = String(part[part.index(after: equals)...])
    }
    return found
}
