import Authentication
import Bytes
import HTTP
import IO
import Telemetry

/// Answers that belong to a connection: the request goes on one where this client's login stands, or on which it is
/// begun with this very request.
extension ChallengeLoop {
    /// The credential whose login the connection must have, or be free for; nil when requests may share it.
    var loginVersion: CredentialVersion? {
        if case .connection? = authenticator?.binding { answered?.credential.version } else { nil }
    }

    /// Claims the connection for the login, and gets ready for its next token.
    mutating func prepareLogin() async {
        omitsBody = false
        guard case .connection(let connections)? = authenticator?.binding, let answered else { return }
        let login: ConnectionLogin
        if let known = upstream.login(to: origin) {
            login = known
        } else {
            // The TLS of a connection ends at who it was made to.
            let channel = origin.isSecure ? upstream.channel : nil
            login = ConnectionLogin(
                to: origin, with: answered.credential,
                in: connections.makeContext(over: channel, under: loginTerms(for: answered.space)), heldBy: logins)
            upstream.claim(for: login)
        }
        guard let context = login.context, !context.isEstablished else { return }
        do throws(AuthenticationError) { try await context.prepare() } catch {
            trouble = error
            return drop()
        }
        omitsBody = context.isOpening && hasBody
    }

    /// Appends the login's next token; false when none is due.
    mutating func authorizeLogin(into value: ByteBuffer) throws(AuthenticationError) -> Bool {
        guard let context = upstream.login(to: origin)?.context, !context.isEstablished else { return false }
        do throws(AuthenticationError) { try context.authorize(at: loop.epochMilliseconds, into: value) } catch {
            trouble = error
            throw error
        }
        return true
    }

    /// A handshake goes on only where its connection does. One that served before may have come to the end that servers
    /// set to connections, and a new one gets another try.
    mutating func loginRefusal(by challenges: [HeaderChallenge]) -> Authentication.Refusal? {
        guard let context = upstream.login(to: origin)?.context else { return nil }
        let refusal = context.refused(by: challenges)
        if let trouble = context.trouble {
            setback = trouble
            record.details = "\(trouble)"
        }
        if refusal == .proceed, !upstream.head.keepAlive { return upstream.isReused ? .retry : .aborted }
        return refusal
    }

    /// What a response that is no challenge says of the login; nil when it says nothing.
    ///
    /// - Parameter hasJudged: whether the server is in a state to judge anything.
    func loginProof(hasJudged: Bool) -> Acceptance? {
        guard case .connection? = authenticator?.binding, let context = upstream.login(to: origin)?.context else {
            return nil
        }
        if omitsBody { return .ignored }
        guard hasJudged else { return nil }
        if context.isEstablished { return .unverified }
        // What a response says of lasting logins is said by the origin.
        return context.accepted(
            by: upstream.challenges(in: fields.challenge), persists: origin.isProxy || upstream.persistsLogin)
    }
}
