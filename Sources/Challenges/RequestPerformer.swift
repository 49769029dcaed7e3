import Authentication
import Bytes
import Crypto
import HTTP

/// Gives answers that belong to the request that they are sent with.
struct RequestPerformer {
    public let authenticator: any RequestAuthenticator
    public let challenger: Challenger

    /// Appends the value of the field that answers.
    public func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) throws(AuthenticationError) -> AuthorizationTicket {
        try authenticator.authorize(method: method, target: target, bodyDigest: bodyDigest, into: value)
    }

    /// The meaning of a challenge for the answer; nil where none was sent.
    public func refusal(by challenges: [HeaderChallenge], of ticket: AuthorizationTicket?) -> RepeatedChallenge? {
        ticket.map { authenticator.refused(by: challenges, ticket: $0) }
    }

    /// Whether the server proves in turn that it knows the credential; nil where it was not given one, or is in trouble
    /// and has judged nothing.
    ///
    /// - Parameter bodyDigest: of the response's content, once it was asked for by `needsBody`.
    public func proof(
        in response: some ChallengeResponse, of ticket: AuthorizationTicket?, at target: Span<UInt8>,
        bodyDigest: [UInt8]?
    ) -> Acceptance? {
        guard let ticket, response.hasJudged else { return nil }
        return response.withInformation(in: challenger.fields.information) {
            authenticator.accepted($0, ticket: ticket, target: target, bodyDigest: bodyDigest)
        }
    }
}

extension ChallengeResponse {
    /// Whether the server is in a state to judge anything.
    var hasJudged: Bool { status.rawValue < 500 }
}
