import Authentication
import Bytes
import Challenges
import HTTP
import IO
import TLS
import Transport

/// The requests for certificates that one request meets, by all servers on its way: what became of them on earlier
/// connections, so that the next goes on from there.
///
/// Belongs to its loop.
public final class IdentityChallenges {
    private var known: [(server: UpstreamServer, progress: IdentityProgress)] = []
    /// The operator's answers.
    private var words: [ProtectionSpace: OperatorAnswer.Act] = [:]
    /// That the latest connection came to its end by.
    private var refusal: IdentityRefusal?

    public init() {}

    func progress(with server: UpstreamServer) -> IdentityProgress {
        var progress = known.first { $0.server === server }?.progress ?? IdentityProgress()
        progress.question = nil
        progress.word = words[ProtectionSpace(clientCertificateOf: server.authority)]
        // The rules are asked anew, which know the operator's answer now.
        if progress.word != nil { progress.task = ChallengeTask() }
        return progress
    }

    /// An operator has answered for this request.
    public func take(_ word: OperatorAnswer.Act, on space: ProtectionSpace) { words[space] = word }

    /// Whether a connection to the server may differ from those of other requests: it serves none of them.
    public func isApart(_ server: UpstreamServer) -> Bool {
        known.contains { $0.server === server }
            || words[ProtectionSpace(clientCertificateOf: server.authority)] != nil
    }

    /// Connects, as often as a server refuses a certificate and another may be shown, or none.
    public func connect(
        for requester: Requester, _ connect: () async throws(Refusal) -> OriginConnection
    ) async throws(Refusal) -> OriginConnection {
        while true {
            do throws(Refusal) { return try await connect() } catch {
                guard try await follow(for: requester) else { throw error }
            }
        }
    }

    /// Whether the next connection differs from the one that has shown the server a certificate which it refused: it shows
    /// another one, or an operator has decided.
    public func hasAlternative(at server: UpstreamServer) -> Bool {
        if words[ProtectionSpace(clientCertificateOf: server.authority)] != nil { return true }
        return known.contains { $0.server === server && $0.progress.end == nil }
    }

    func note(_ refusal: IdentityRefusal) { self.refusal = refusal }

    /// Whether the latest connection came to its end by a certificate that a server has refused.
    public var isToBeFollowed: Bool { refusal != nil }

    /// Makes the refusal known of the certificate that the latest connection has shown.
    ///
    /// - Returns: whether there was one, so that another connection is to be made.
    /// - Throws: the refusal that the client is to be told, where a rule wants no other connection.
    public func follow(for requester: Requester) async throws(Refusal) -> Bool {
        guard let refusal else { return false }
        self.refusal = nil
        let progress = await refusal.settle(for: requester)
        known.removeAll { $0.server === refusal.server }
        known.append((refusal.server, progress))
        if let refusal = Refusal(progress, of: refusal.choice) { throw refusal }
        return true
    }
}

extension UpstreamConnection {
    /// The server refuses the certificate that it was shown with a response.
    ///
    /// - Parameters:
    ///   - page: the status and words of the response.
    ///   - response: the response, for an operator.
    public func noteIdentityRefusal(
        onPage page: String, _ response: ResponseExcerpt, in challenges: IdentityChallenges
    ) {
        guard let choice = peerSecurity?.choice, let server = peer else { return }
        challenges.note(IdentityRefusal(choice: choice, server: server, words: page, response: response))
    }

    /// Whether the server broke off what it had been asked, over its wish for a certificate. Reads what it said of that,
    /// should the connection have ended for this side before.
    ///
    /// - Parameter target: of the request that was sent.
    /// - Returns: the refusal that the client is to be told, unless another connection does better: see `isToBeFollowed`.
    public func identityRefusal(
        after failure: Failure, in challenges: IdentityChallenges, at target: ByteBuffer
    ) -> Refusal? {
        guard let security = peerSecurity, let choice = security.choice, let server = peer else { return nil }
        var reason: TLSError?
        switch failure {
        case .insecure(let error): reason = error
        case .died:
            if let stream, stream.tls?.failure != nil, case .failed = stream.tryRead(into: inbound) {
                reason = stream.tls?.failure
            }
        case .timedOut, .invalid: break
        }
        switch reason {
        case .alert(let alert)? where alert.refusesCertificate && security.shownIdentity != nil:
            challenges.note(IdentityRefusal(choice: choice, server: server, words: "\(alert)"))
            return Refusal(alert, of: choice)
        case .identityWanted(let alert)?: return Refusal(choice.progress, of: choice) ?? Refusal(alert, of: choice)
        default: return nil
        }
    }
}

extension Requester {
    /// A response has come on a connection. If its server has asked for a certificate since the last one, its word on that
    /// is noted.
    ///
    /// - Parameters:
    ///   - isGood: whether it is none that could be about the certificate.
    ///   - page: its status and words, where it refuses the request over the certificate; nil: it does not.
    ///   - target: of the request.
    /// - Returns: why the server refuses the request, if that is over the certificate.
    @discardableResult
    public func noteIdentity(
        on security: ConnectionSecurity, isGood: Bool, onPage page: String? = nil, at target: ByteBuffer
    ) -> String? {
        guard let choice = security.choice, choice.hasNews else { return nil }
        let now = loop.epochMilliseconds
        if let page {
            choice.hasNews = false
            let report = IdentityReport(choice)
            if let line = report.note(.passed, onPage: page, at: now) { shared.report(line) }
            return report.sentence(onPage: page)
        }
        guard choice.progress.end == nil, let credential = choice.shown.credential else {
            choice.hasNews = false
            if choice.mayShow, let report = IdentityReport(choice).note(.declined, at: now) { shared.report(report) }
            return nil
        }
        guard isGood else { return nil }
        choice.hasNews = false
        shared.spaces.noteAccepted(credential.version, for: choice.space)
        choice.settle(credential, .accepted)
        _ = IdentityReport(choice).note(.answered, at: now)
        return nil
    }

    /// Takes note in the journal of a server that got no certificate which it takes.
    public func noteRefusal(on security: ConnectionSecurity?) {
        guard let choice = security?.choice else { return }
        choice.hasNews = false
        if let report = IdentityReport(choice).note(.cancelled, at: loop.epochMilliseconds) { shared.report(report) }
    }
}
