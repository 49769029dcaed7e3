import Bytes
import Crypto
import Forwarding
import HTTP
import IO
import Rules
import TLS
import Telemetry
import Transport
import Upstream

/// Does in a task the work of a request that its channels' events cannot do.
struct RequestService {
    /// The stage that the request has reached.
    enum Stage {
        /// The client has sent bytes to a listener that uses TLS.
        case arriving(ListenerIdentity)
        /// A SOCKS client has sent a user and a password.
        case login(SOCKSGreeting, user: String, password: Secret)
        /// The head is there, and the client may use the proxy once it has authenticated.
        case admitted
        case planned(Downstream.Plan)
        /// The forwarding waits for work.
        case forwarded
        /// The response is in `outbound`, except for what the client has taken.
        case answered(keepsConnection: Bool)

        /// The sign by which the client leaves. A client that leaves during its handshake gives the reason in an alert,
        /// which is still to be read.
        var departure: Downstream.Departure {
            switch self {
            case .arriving: .none
            case .login, .admitted, .planned, .forwarded: .end
            case .answered: .reset
            }
        }
    }

    /// The result of the task.
    enum Outcome {
        /// The events of the channels advance the request.
        case awaitsEvent
        /// The events of the channels advance a tunnel that is not intercepted.
        case tunnels(BlindTunnel)
        /// The client's greeting continues.
        case greets(SOCKSGreeting)
        /// - Parameter goesOn: whether the client's connection can carry another request.
        case ended(goesOn: Bool)
        case failed(ExchangeFailure)
    }

    let session: ClientSession
    let run: Forwarding

    private var exchange: Exchange { run.exchange }

    func serve(from stage: Stage) async -> Outcome {
        let outcome: Outcome
        do throws(ExchangeFailure) { outcome = try await carryOut(from: stage) } catch { return .failed(error) }
        if case .ended = outcome { session.downstream.leaves(by: .none, in: exchange) }
        return outcome
    }

    private func carryOut(from stage: Stage) async throws(ExchangeFailure) -> Outcome {
        guard session.downstream.presence.isWanted else { throw .clientLost }
        switch stage {
        case .arriving(let identity):
            try await arrive(at: identity)
            return session.speaksSOCKS && !session.speaksHTTP2 ? .greets(session.newGreeting) : .ended(goesOn: true)
        case .login(let greeting, let user, let password):
            greeting.conclude(try await fault(of: password, for: user))
            return .greets(greeting)
        case .admitted:
            if let authentication = session.authentication {
                var login = session.login
                defer { session.login = login }
                try await authentication.check(exchange, of: session.downstream, with: &login)
                session.login = login
                session.shareLogin()
            }
            try await session.downstream.proveName(in: exchange)
            return try await carryOut(session.plan(exchange))
        case .planned(let plan): return try await carryOut(plan)
        case .forwarded: return try await forward()
        case .answered(let keepsConnection):
            let response = ProxyResponse(downstream: session.downstream, exchange: exchange)
            return .ended(goesOn: await response.send(keepingConnection: keepsConnection))
        }
    }

    private func carryOut(_ plan: Downstream.Plan) async throws(ExchangeFailure) -> Outcome {
        switch plan {
        case .forward:
            session.stream.setDeadline(after: nil)
            run.begin()
            return try await forward()
        case .tunnel(let destination):
            try await session.downstream.upstreams.renewWays(
                to: destination, by: exchange.policy, for: session.downstream.waiting(on: exchange))
            let opening = TunnelOpening(
                downstream: session.downstream, exchange: exchange, destination: destination)
            let interception = Interception(opening: opening, identity: session.policy.interception)
            guard interception.looksInside else { return .tunnels(try await opening.open()) }
            switch try await interception.begin() {
            case .relayed(let tunnel): return .tunnels(tunnel)
            case .entered(let tunnel):
                session.enter(tunnel, as: exchange.record.facts.user)
                session.speaksHTTP2 =
                    tunnel.hasPriorKnowledge || tunnel.scheme == .https && session.stream.tls?.speaksHTTP2 == true
                return .ended(goesOn: true)
            }
        case .answerOptions:
            let response = ProxyResponse(downstream: session.downstream, exchange: exchange)
            return .ended(goesOn: await response.send(keepingConnection: response.writeOptions()))
        }
    }

    /// Does the work that the forwarding waits for, until only events are awaited.
    private func forward() async throws(ExchangeFailure) -> Outcome {
        while true {
            switch try run.advance(for: session.downstream) {
            case .awaitsEvent: return .awaitsEvent
            case .upgraded(let tunnel): return .tunnels(BlindTunnel(tunnel, of: exchange, for: session.downstream))
            case .awaitsWork: try await run.performWork(for: session.downstream)
            case .ended(let keeps): return .ended(goesOn: keeps)
            }
        }
    }

    /// Checks the password of a SOCKS client, and logs it in.
    /// - Returns: the reason why it is not accepted; nil if it is right.
    private func fault(of password: Secret, for user: String) async throws(ExchangeFailure) -> String? {
        guard let authentication = session.policy.clientAuthentication else { return nil }
        let fault = try await authentication.check(password, of: user, on: exchange, from: session.downstream)
        if fault == nil { session.login.enterTunnel(as: user, by: authentication) }
        return fault
    }

    // MARK: - A listener that speaks TLS

    /// Shakes hands once the client's first record is there, and finds out who it is if it shows a certificate.
    ///
    /// A client that speaks HTTP without TLS gets its answer without TLS.
    private func arrive(at listener: ListenerIdentity) async throws(ExchangeFailure) {
        let inbound = exchange.inbound
        let downstream = session.downstream
        if SpokenProtocol.told(by: inbound.readable) == .http { throw .refused(.clearText) }
        let limit = exchange.policy.timeouts.head
        do throws(HandshakeError) {
            try await downstream.accept(
                as: listener.context, after: inbound, within: limit, offersHTTP2: offersHTTP2(listener)
            ) { _ in listener.identity }
            session.speaksHTTP2 = session.stream.tls?.speaksHTTP2 == true
        } catch {
            if let own = session.stream.localAddress {
                let server = WeakUse.Server("https", host: "\(own.address.unmapped)", port: own.port, as: .listener)
                downstream.noteWeakClient(error, of: nil, calling: server)
            }
            throw ExchangeFailure(error, advice: "it must trust the listener's certificate or its issuer's")
        }
        if let certificate = session.stream.tls?.clientChain?.leaf {
            if let name = certificate.userName { session.login.recognise(name) }
        } else if listener.requiresCertificate {
            throw .refused(.missingCertificate)
        }
    }

    /// Whether clients of the listener may choose HTTP/2. Not where they may log in by Negotiate, which belongs to a whole
    /// connection.
    private func offersHTTP2(_ listener: ListenerIdentity) -> Bool {
        listener.offersHTTP2 && session.policy.clientAuthentication?.methods.contains(.negotiate) != true
    }
}

extension Refusal {
    fileprivate static var clearText: Refusal {
        Refusal(
            .badRequest, .httpRequestError,
            "this port of the proxy speaks TLS: set it as https://… in the client, or use a port without TLS",
            keepsConnection: false)
    }

    fileprivate static var missingCertificate: Refusal {
        Refusal(
            .forbidden, .httpRequestDenied, "this port of the proxy serves only clients that show a certificate",
            keepsConnection: false)
    }
}
