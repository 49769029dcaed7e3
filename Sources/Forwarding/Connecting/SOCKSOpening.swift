import Authentication
import Bytes
import Challenges
import Crypto
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// Has a SOCKS server open a connection to an origin, by the steps of `SOCKS5Handshake` and `SOCKS4Request`.
struct SOCKSOpening {
    let connector: ParentConnector
    let origin: UpstreamServer

    private var downstream: Downstream { connector.downstream }
    private var exchange: Exchange { connector.exchange }
    private var parent: Parent { connector.parent }
    private var policy: Policy { exchange.policy }

    /// The failures while opening.
    private enum Failure: Error {
        case connection(IOError)
        case protocolSays(SOCKSError)
    }

    /// - Throws: the refusal for the client.
    func open() async throws(Refusal) -> ParentConnector.Tunnel {
        var login = Login(by: connector, to: origin)
        await login.meetChallenge()
        while true {
            let connection = try await connector.connect(under: .plain, resuming: false)
            let inbound = ByteBuffer(capacity: 512)
            let started = downstream.loop.now
            do throws(Failure) {
                try await negotiate(on: connection.stream, inbound, &login)
            } catch {
                connection.stream.close()
                let refusal = await refusal(for: error, of: &login)
                exchange.record.facts.trace?.note(
                    "socks", from: started, error: refusal?.sentence ?? "the parent refused the login")
                guard let refusal else { continue }
                throw refusal
            }
            exchange.record.facts.trace?.note("socks", from: started)
            await login.accepted()
            return ParentConnector.Tunnel(connection: connection, early: inbound.isEmpty ? nil : inbound)
        }
    }

    /// - Returns: nil if the server is to get another login, on another connection.
    private func refusal(for failure: Failure, of login: inout Login) async -> Refusal? {
        switch failure {
        case .protocolSays(.passwordRefused):
            await login.meetChallenge()
            return login.offersPassword ? nil : login.unanswered()
        case .protocolSays(.noAcceptableMethod): return login.unanswered()
        case .protocolSays(let error): return .refused(error, by: parent, to: origin)
        case .connection(let error):
            // Nothing has happened yet that another parent would repeat.
            var refusal = Refusal(error == .timedOut ? .timedOut : .died, of: parent.origin.title)
            refusal.mayGoAnotherWay = true
            return refusal
        }
    }

    private func negotiate(
        on stream: ByteStream, _ inbound: ByteBuffer, _ login: inout Login
    ) async throws(Failure) {
        let out = exchange.outbound
        out.clear()
        defer { out.clear() }
        if parent.server.scheme == .socks4a {
            do throws(SOCKSError) {
                out.append(try SOCKS4Request.bytes(host: origin.hostText, port: origin.port))
            } catch { throw .protocolSays(error) }
            try await send(out, on: stream)
            while true {
                try await receive(from: stream, into: inbound)
                do throws(SOCKSError) {
                    guard let count = try SOCKS4Request.reply(inbound.readable) else { continue }
                    return inbound.consume(count)
                } catch { throw .protocolSays(error) }
            }
        }
        var handshake = SOCKS5Handshake.awaitingMethod(offersPassword: login.offersPassword)
        out.append(SOCKS5Handshake.greeting(offersPassword: login.offersPassword))
        try await send(out, on: stream)
        while true {
            try await receive(from: stream, into: inbound)
            let step: SOCKS5Handshake.Step
            do throws(SOCKSError) {
                step = try handshake.receive(inbound.readable)
                switch step {
                case .needsMore: continue
                case .password(let consumed):
                    inbound.consume(consumed)
                    try login.append(to: out)
                case .request where login.isProbe: return
                case .request(let consumed):
                    inbound.consume(consumed)
                    out.append(try SOCKS5Handshake.request(host: origin.hostText, port: origin.port))
                case .open(let consumed): return inbound.consume(consumed)
                }
            } catch { throw .protocolSays(error) }
            try await send(out, on: stream)
        }
    }

    private func send(_ bytes: ByteBuffer, on stream: ByteStream) async throws(Failure) {
        stream.setDeadline(after: policy.timeouts.response)
        do throws(IOError) { try await stream.write(from: bytes) } catch { throw .connection(error) }
    }

    private func receive(from stream: ByteStream, into inbound: ByteBuffer) async throws(Failure) {
        do throws(IOError) {
            guard try await stream.read(into: inbound) > 0 else { throw IOError.endOfStream }
        } catch { throw .connection(error) }
    }

    /// The login of one request at a SOCKS server. A `ChallengeLoop` answers a refusal by the server as it answers a
    /// parent's `407`.
    ///
    /// A client offers a password before the server says whether it wants one. So the challenge is met before a connection
    /// is made. The server's protection space has no realm; its method is `basic`, because RFC 1929 sends the password in
    /// clear.
    struct Login: ~Copyable {
        private let connector: ParentConnector
        private let response = Response()
        /// The loop that answers; nil if no rule answers the server.
        private let challenges: ChallengeLoop?
        private var verdict = ForwardingContext.Verdict.pass(note: nil)
        /// Whether the server asked for the password, and so judges it.
        private var isSent = false

        private var exchange: Exchange { connector.exchange }
        private var parent: Parent { connector.parent }

        /// Whether the connection is only for a probe: the proxy asks whether the server still accepts a password.
        let isProbe: Bool

        /// - Parameter origin: the server that the connection is to lead to.
        init(by connector: ParentConnector, to origin: UpstreamServer) {
            self.connector = connector
            let probe = connector.exchange.probe.flatMap {
                $0.attempt.evidence.server == connector.parent.challenger.serverName ? $0 : nil
            }
            isProbe = probe != nil
            let (downstream, exchange, parent) = (connector.downstream, connector.exchange, connector.parent)
            guard parent.server.scheme == .socks5, parent.mayBeAnswered(by: exchange.policy, in: downstream.shared)
            else {
                challenges = nil
                return
            }
            // The server judges the password before it learns the target.
            var request = ChallengeContext.Request(
                target: ByteBuffer(capacity: 1), hasBody: false, isOwn: exchange.isOwn,
                record: exchange.record, presence: downstream.presence, waiting: exchange.times.waiting)
            request.sample = { exchange.loginSample(to: origin) }
            request.application = { exchange.application }
            let context = ChallengeContext(
                source: AnswerSource(of: parent.challenger, for: exchange, of: downstream), request: request,
                connection: response, pages: nil,
                fetcher: exchange.requests.tokens(over: downstream.upstreams, by: exchange.policy),
                metrics: downstream.metrics)
            context.probe = probe
            challenges = ChallengeLoop(context)
        }

        /// Whether the next connection begins with the offer of a password.
        var offersPassword: Bool { if case .again = verdict { true } else { false } }

        /// Finds the password to offer. Call it before the first connection, and after a refusal.
        mutating func meetChallenge() async {
            isSent = false
            response.status = .proxyAuthenticationRequired
            if let challenges { verdict = ForwardingContext.Verdict(await challenges.judged()) }
        }

        mutating func append(to buffer: ByteBuffer) throws(SOCKSError) {
            let nothing = [UInt8]()
            isSent =
                challenges?.authorize(method: nothing.span, target: nothing.span, bodyDigest: nil, into: buffer)
                ?? false
            guard isSent else { throw .malformed }
        }

        /// Records that the server accepted the login, or wanted none.
        mutating func accepted() async {
            guard isSent, let challenges else {
                // The server asked for no password.
                if let answer = exchange.record.facts.parentAnswer {
                    exchange.record.facts.parentAnswer = AnswerRecord(
                        scheme: nil, credential: nil, dated: [], rule: answer.rule)
                }
                return
            }
            response.status = .ok
            _ = await challenges.judged()
        }

        /// Records that the server wants a password and gets none that it accepts.
        func unanswered() -> Refusal {
            switch verdict {
            case .cancel(let refusal):
                takeNote(refusal.sentence)
                return refusal
            case .pass(let note): return unanswered(note)
            case .again: return unanswered("it takes neither a user with a password nor a connection without a login")
            }
        }

        private func unanswered(_ note: String?) -> Refusal {
            takeNote(note)
            return .unanswered(by: parent, challenges: [.socksPassword], note: note ?? challenges?.rejection)
        }

        private func takeNote(_ note: String?) {
            parent.refusedLogin()
            UnansweredEntry(downstream: connector.downstream, exchange: exchange, upstream: nil)
                .take(of: parent.challenger, challenges, note, .cancelled)
        }
    }

    /// The result of a SOCKS server's login, as an HTTP response. It has no fields and no text.
    fileprivate final class Response: ChallengeResponse, LoginConnection {
        var status = Status.proxyAuthenticationRequired

        let keepsConnection = false
        let persistsLogin = false

        func challenges(in name: KnownField) -> [HeaderChallenge] {
            status == .proxyAuthenticationRequired ? [.socksPassword] : []
        }

        func withInformation<Result>(in name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result { body(nil) }
        func excerpt(hiding mask: EchoMask) -> ResponseExcerpt? { nil }
        func awaitText() async -> Bool { false }
        func digestBody(_ algorithm: DigestAlgorithm) async -> BodyDigest { .whole([]) }

        // A login is only the beginning of a connection.
        let isClaimed = false
        let login: (any SecurityContext)? = nil
        let channelBinding: ChannelBinding? = nil
        let isReused = false

        func claim(for credential: Credential, in context: any SecurityContext, isShared: Bool) {}
        func holdsLogin(with version: CredentialVersion) -> Bool { false }
    }
}
