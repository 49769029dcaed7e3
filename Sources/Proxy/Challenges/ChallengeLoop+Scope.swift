import Authentication
import Bytes
import HTTP

/// RFC 6750 section 3.1: a token that is good, and not good enough.
extension ChallengeLoop {
    /// Whether a response says what is amiss with a token that it did not refuse.
    var mayLackScope: Bool {
        upstream.head.status == .forbidden && answered?.space.authenticationMethod == .bearer
    }

    /// What the client is told about it.
    var missingScope: String? {
        guard mayLackScope, let name = answered?.credential.version.name else { return nil }
        let challenge = upstream.challenges(in: fields.challenge).first {
            $0.scheme == "bearer" && $0.text("error") == "insufficient_scope"
        }
        guard let challenge else { return nil }
        let wanted = challenge.text("scope").map { " (\($0))" } ?? ""
        return "the token of credential \(name) lacks the scope that \(origin.title) wants\(wanted)"
    }
}
