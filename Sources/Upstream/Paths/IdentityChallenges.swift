import Authentication
import Bytes
import Challenges
import HTTP
import IO
import TLS
import Transport

/// The requests for certificates that one request meets, from all servers on its way. It keeps the outcome of earlier
/// connections, so that the next one continues from there.
///
/// Belongs to its loop.
public final class IdentityChallenges {
    private var known: [(server: UpstreamServer, progress: IdentityProgress)] = []
    /// The operator's answers, by space.
    private var words: [ProtectionSpace: OperatorAnswer.Act] = [:]
    /// The refusal that ended the latest connection.
    private var refusal: IdentityRefusal?

    public init() {}

    func progress(with server: UpstreamServer) -> IdentityProgress {
        var progress = known.first { $0.server === server }?.progress ?? IdentityProgress()
        progress.question = nil
        progress.word = words[ProtectionSpace(clientCertificateOf: server.authority)]
        // The rules are asked again, since they know the operator's answer now.
        if progress.word != nil { progress.task = ChallengeTask() }
        return progress
    }

    /// Takes an operator's answer for this request.
    public func take(_ word: OperatorAnswer.Act, on space: ProtectionSpace) { words[space] = word }

    /// Whether a connection to the server may differ from those of other requests, so that it serves none of them.
    public func isApart(_ server: UpstreamServer) -> Bool {
        known.contains { $0.server === server }
            || words[ProtectionSpace(clientCertificateOf: server.authority)] != nil
    }

    /// Connects again as long as a server refuses a certificate and the next choice differs.
    public func connect(
        for downstream: Downstream, _ connect: () async throws(Refusal) -> OriginConnection
    ) async throws(Refusal) -> OriginConnection {
        while true {
            do throws(Refusal) { return try await connect() } catch {
                guard try await follow(for: downstream) else { throw error }
            }
        }
    }

    /// Whether the next connection differs from the one whose certificate was refused: it shows another certificate, or
    /// an operator has decided.
    public func hasAlternative(at server: UpstreamServer) -> Bool {
        words[ProtectionSpace(clientCertificateOf: server.authority)] != nil
            || known.contains { $0.server === server && $0.progress.end == nil }
    }

    func note(_ refusal: IdentityRefusal) { self.refusal = refusal }

    /// Whether a server's refusal of a certificate ended the latest connection.
    public var isToBeFollowed: Bool { refusal != nil }

    /// Records the refusal of the certificate that the latest connection has shown.
    ///
    /// - Returns: whether there was a refusal, so that another connection is needed.
    /// - Throws: the refusal for the client, if a rule forbids another connection.
    public func follow(for downstream: Downstream) async throws(Refusal) -> Bool {
        guard let refusal else { return false }
        self.refusal = nil
        let progress = await refusal.settle(for: downstream)
        known.removeAll { $0.server === refusal.server }
        known.append((refusal.server, progress))
        if let refusal = Refusal(progress, of: refusal.choice) { throw refusal }
        return true
    }
}

extension UpstreamConnection {
    /// Notes that the server refuses the certificate with a response.
    ///
    /// - Parameters:
    ///   - page: the status and text of the response.
    ///   - response: the response, for an operator.
    public func noteIdentityRefusal(
        onPage page: String, _ response: ResponseExcerpt, in challenges: IdentityChallenges
    ) {
        guard let choice = peerSecurity?.choice, let server = peer else { return }
        challenges.note(IdentityRefusal(choice: choice, server: server, words: page, response: response))
    }

    /// Whether the server closed the connection because it wants a certificate. Reads the alert that the server sent,
    /// if the connection already ended for this side.
    ///
    /// - Parameter target: the target of the request that was sent.
    /// - Returns: the refusal for the client, unless another connection can succeed: see `isToBeFollowed`.
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
        case .timedOut, .invalid, .unprocessed, .needsHTTP11, .unspeakable, .reset: break
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

extension Downstream {
    /// Handles a response on a connection. If its server has asked for a certificate since the last response, records
    /// the server's verdict on it.
    ///
    /// - Parameters:
    ///   - isGood: whether the response is certainly not a refusal of the certificate.
    ///   - page: the status and text of a response that refuses the request because of its certificate; nil for any
    ///     other.
    ///   - target: the target of the request.
    /// - Returns: why the server refuses the request; nil if it does not, or for another reason than the certificate.
    @discardableResult
    public func noteIdentity(
        on security: ConnectionSecurity, isGood: Bool, onPage page: String? = nil, at target: ByteBuffer
    ) -> String? {
        guard let choice = security.choice, choice.hasNews else { return nil }
        let now = loop.wallTime
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

    /// Records in the journal a server that got no certificate that it accepts.
    public func noteRefusal(on security: ConnectionSecurity?) {
        guard let choice = security?.choice else { return }
        choice.hasNews = false
        if let report = IdentityReport(choice).note(.cancelled, at: loop.wallTime) { shared.report(report) }
    }
}
