import Authentication
import HTTP
import Telemetry
import Upstream

/// Certificates that the server wants of us, where its word on them comes behind the handshake: since TLS 1.3 always.
extension ForwardingContext {
    /// Keeps the content as long as the server may still refuse the certificate that it is sent behind.
    func keepBodyForIdentity() {
        let upstream = exchange.upstream
        if upstream.hasShownIdentity, upstream.peerSecurity?.hasIdentityNews == false { return }
        exchange.body.keepCopy(in: room)
    }

    /// Whether the server has refused a certificate, so that another connection may do better.
    ///
    /// - Throws: the refusal that the client is to be told, where it says more than the failure: the server wanted a
    ///   certificate that nobody shows, or a gateway knows why.
    func hasRefusedIdentity(by failure: ExchangeFailure) throws(ExchangeFailure) -> Bool {
        guard case .upstreamFailed(let failure) = failure else { return false }
        if let refusal = exchange.upstream.gatewayRefusal { throw .refused(refusal) }
        if exchange.own != nil { return false }
        let (upstream, identities) = (exchange.upstream, exchange.credentials.beginIdentities())
        guard let refusal = upstream.identityRefusal(after: failure, in: identities, at: exchange.target) else {
            return false
        }
        if identities.isToBeFollowed { return true }
        requester.noteRefusal(on: upstream.peerSecurity)
        throw .refused(refusal)
    }

    /// Makes the refusal known.
    func followIdentity() async throws(ExchangeFailure) {
        let security = exchange.upstream.peerSecurity
        exchange.upstream.reset()
        try await settleIdentity(on: security)
        guard exchange.body.canBeSent else {
            throw .refused(
                Refusal(
                    .badGateway, .httpRequestError,
                    "\(exchange.way.peer(of: origin).title) refused a client certificate, and the request body is larger "
                        + "than this proxy keeps for sending it again with another"))
        }
    }

    private func settleIdentity(on security: ConnectionSecurity?) async throws(ExchangeFailure) {
        do throws(Refusal) {
            do throws(Refusal) { _ = try await exchange.credentials.beginIdentities().follow(for: requester) } catch {
                try await follow(error)
            }
        } catch {
            requester.noteRefusal(on: security)
            throw .refused(error)
        }
    }

    /// Whether the response may refuse the certificate that the origin was shown.
    var mayRefuseIdentity: Bool {
        let upstream = exchange.upstream
        guard [.badRequest, .certificateError].contains(upstream.head.status), origin.isSecure, exchange.own == nil
        else { return false }
        return upstream.security?.awaitsIdentityVerdict ?? false
    }

    /// Makes the refusal known that the response is, if it is one.
    ///
    /// - Returns: whether another connection does better; else the client gets the response.
    func followIdentityPage() async throws(ExchangeFailure) -> Bool {
        let (upstream, limits) = (exchange.upstream, policy.limits.response)
        if upstream.awaitsContent { _ = await connection(at: origin).awaitText() }
        guard let page = upstream.certificatePage(by: limits), page.isVerdict else { return false }
        let identities = exchange.credentials.beginIdentities()
        let response = upstream.excerpt(hiding: exchange.mask(EchoMask()), by: limits)
        upstream.noteIdentityRefusal(onPage: page.words, response, in: identities)
        try await settleIdentity(on: upstream.security)
        guard identities.hasAlternative(at: origin), exchange.body.canBeSent else { return false }
        upstream.reset()
        return true
    }

    /// The TLS of the connection that a response came on, for the record; and the server's word on a certificate that it has
    /// asked for since its last response.
    @inline(__always)
    func noteSecurity() {
        let upstream = exchange.upstream
        if origin.isSecure, let security = upstream.security {
            if security.hasIdentityNews { noteIdentity(on: security) }
            exchange.record.security = security.record
        } else if upstream.hasSecureParent, let security = upstream.peerSecurity {
            noteIdentity(on: security)
        }
    }

    private func noteIdentity(on security: ConnectionSecurity) {
        let upstream = exchange.upstream
        let sentence = requester.noteIdentity(
            on: security, isGood: upstream.head.status.rawValue < 400,
            onPage: upstream.certificatePage(by: policy.limits.response)?.words, at: exchange.target)
        exchange.record.details = exchange.record.details ?? sentence
    }
}

extension UpstreamConnection {
    /// The status and words of a page by which nginx refuses a request over the client's certificate, with its handshake long
    /// done, and whether that is one which it was shown; nil: the response is another page.
    ///
    /// Its own page has the words in its title, and comes as a 400. Behind `error_page` the status is nginx's own one.
    fileprivate func certificatePage(by limits: Limits) -> (words: String, isVerdict: Bool)? {
        switch head.status {
        case .certificateError: return ("495", true)
        case .certificateRequired: return ("496", false)
        case .badRequest:
            guard let text = excerpt(hiding: EchoMask(), by: limits).text else { return nil }
            let words = ["No required SSL certificate was sent", "The SSL certificate error"]
            guard let index = words.firstIndex(where: { text.hasPrefix("400 \($0)") }) else { return nil }
            return ("400, \"\(words[index])\"", index == 1)
        default: return nil
        }
    }
}

extension Status {
    /// "SSL Certificate Error" and "SSL Certificate Required" of nginx.
    fileprivate static let certificateError = Status(rawValue: 495)
    fileprivate static let certificateRequired = Status(rawValue: 496)
}
