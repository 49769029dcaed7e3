import Authentication
import Bytes

/// Gives answers that belong to a connection: the request goes on one where the credential is logged in, or on which it is
/// begun with this very request.
struct ConnectionPerformer {
    public let authenticator: any ConnectionAuthenticator
    public let connection: any LoginConnection
    public let challenger: Challenger

    /// Claims the connection for the login, and gets ready for its next token, which may take its time.
    ///
    /// - Parameter isShared: whether the connection serves every client that the rules grant the credential to.
    /// - Returns: whether the token can only bring another challenge, so that the request goes without its body.
    public func prepare(
        with credential: Credential, isShared: @autoclosure () -> Bool, under terms: @autoclosure () -> LoginTerms
    ) async throws(AuthenticationError) -> Bool {
        if !connection.isClaimed {
            let context = authenticator.makeContext(over: connection.channelBinding, under: terms())
            connection.claim(for: credential, in: context, isShared: isShared())
        }
        guard let login = connection.login, !login.isEstablished else { return false }
        try await login.prepare()
        return login.isOpening
    }

    /// Appends the login's next token; false when none is due.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func authorize(at now: Int, into value: ByteBuffer) throws(AuthenticationError) -> Bool {
        guard let login = connection.login, !login.isEstablished else { return false }
        try login.authorize(at: now, into: value)
        return true
    }

    /// The meaning of a challenge for the login, and why it came to nothing, where nobody is to blame who it is about. A
    /// handshake goes on only where its connection does. A connection that served before may have come to the end that
    /// servers set to them, and a new one gets another try.
    public func refusal(
        by challenges: [HeaderChallenge], in response: any ChallengeResponse
    ) -> (refusal: RepeatedChallenge?, trouble: AuthenticationError?) {
        guard let login = connection.login else { return (nil, nil) }
        let refusal = login.refused(by: challenges)
        if refusal == .proceed, !response.keepsConnection {
            return (connection.isReused ? .retry : .aborted, login.trouble)
        }
        return (refusal, login.trouble)
    }

    /// The meaning of a response that is no challenge for the login; nil when it says nothing.
    ///
    /// - Parameter omitsBody: whether the request went without its body.
    public func proof(in response: some ChallengeResponse, omitsBody: Bool) -> Acceptance? {
        guard let login = connection.login else { return nil }
        if omitsBody { return .ignored }
        guard response.hasJudged else { return nil }
        if login.isEstablished { return .unverified }
        // The field that says whether logins last is the origin's.
        return login.accepted(
            by: response.challenges(in: challenger.fields.challenge),
            persists: challenger.isProxy || response.persistsLogin)
    }
}
