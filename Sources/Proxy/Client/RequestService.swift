import Bytes
import Forwarding
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// Does in a task what a request waits for that is no event of its channels, and answers the client where it fails.
struct RequestService {
    /// How far the request has come.
    enum Stage {
        /// The client has said something to a listener that speaks TLS.
        case arriving(ListenerIdentity)
        /// The head is there, and the client may use the proxy once it has said who it is.
        case admitted
        case planned(ClientSession.Plan)
        /// Its forwarding waits for work.
        case forwarded
        /// Its response stands in `outbound`, as far as the client has not taken it.
        case answered(keepsConnection: Bool)
        case failed(ExchangeFailure)

        /// The sign that the client has left. A client that leaves in its handshake says why, in an alert that is still
        /// to be read.
        var departure: Requester.Departure {
            switch self {
            case .arriving: .none
            case .admitted, .planned, .forwarded: .end
            case .answered, .failed: .reset
            }
        }
    }

    /// How far the request came in the task.
    enum Outcome {
        /// The events of its channels carry it on.
        case awaitsEvent
        /// So they do, with bytes that are not looked at.
        case tunnels(BlindTunnel)
        /// - Parameter goesOn: whether the client's connection can carry another request.
        case ended(goesOn: Bool)
    }

    let session: ClientSession
    let exchange: Exchange

    func serve(from stage: Stage) async -> Outcome {
        var outcome: Outcome
        do throws(ExchangeFailure) {
            outcome = try await carryOut(from: stage)
        } catch {
            outcome = .ended(goesOn: await conclude(after: error))
        }
        if case .ended = outcome { session.requester.leaves(by: .none, in: exchange) }
        return outcome
    }

    private func carryOut(from stage: Stage) async throws(ExchangeFailure) -> Outcome {
        guard session.requester.presence.isWanted else { throw .clientLost }
        switch stage {
        case .arriving(let identity):
            try await SecureArrival(session: session, exchange: exchange).accept(as: identity)
            return .ended(goesOn: true)
        case .admitted:
            if let authentication = session.authentication {
                try await authentication.check(exchange, of: session)
            }
            return try await carryOut(session.plan(exchange))
        case .planned(let plan): return try await carryOut(plan)
        case .forwarded: return try await forward()
        case .answered(let keepsConnection):
            let response = OwnResponse(session: session, exchange: exchange)
            return .ended(goesOn: await response.send(keepingConnection: keepsConnection))
        case .failed(let failure): throw failure
        }
    }

    private func carryOut(_ plan: ClientSession.Plan) async throws(ExchangeFailure) -> Outcome {
        switch plan {
        case .forward:
            session.stream.setDeadline(after: nil)
            exchange.forward()
            return try await forward()
        case .tunnel(let destination):
            try await session.requester.upstreams.renewWays(
                to: destination, by: exchange.policy, for: session.requester.waiting(on: exchange))
            let opening = TunnelOpening(
                requester: session.requester, exchange: exchange, destination: destination)
            guard destination.route.action == .intercept else { return .tunnels(try await opening.open()) }
            let blind = try await Interception(session: session, opening: opening).begin()
            return blind.map { .tunnels($0) } ?? .ended(goesOn: true)
        case .answerOptions:
            let response = OwnResponse(session: session, exchange: exchange)
            return .ended(goesOn: await response.send(keepingConnection: response.writeOptions()))
        }
    }

    /// Does what the forwarding waits for, until only events are left to be waited for.
    private func forward() async throws(ExchangeFailure) -> Outcome {
        while true {
            switch try exchange.advance(for: session.requester) {
            case .awaitsEvent: return .awaitsEvent
            case .upgraded(let tunnel): return .tunnels(BlindTunnel(tunnel, of: exchange, for: session.requester))
            case .awaitsWork: try await exchange.performWork(for: session.requester)
            case .ended(let keeps): return .ended(goesOn: keeps)
            }
        }
    }

    private func conclude(after failure: ExchangeFailure) async -> Bool {
        switch failure {
        case .handshakeFailed(let error, let sentence):
            exchange.record.error = error
            exchange.record.details = sentence
            return false
        case .clientLost,
            _ where session.requester.presence.hasLeft:
            if !exchange.headBytes.isEmpty { exchange.record.noteDeparture() }
            session.stream.abort()
            return false
        case .cutShort(let error, let sentence):
            exchange.record.error = error
            exchange.record.details = sentence
            session.stream.abort()
            return false
        case .upstreamFailed, .refused:
            guard let refusal = exchange.refusal(for: failure) else { return false }
            session.requester.leaves(by: .reset, in: exchange)
            let response = OwnResponse(session: session, exchange: exchange)
            return await response.send(keepingConnection: response.write(refusal))
        }
    }
}

extension Exchange {
    /// The proxy's own answer to a request that failed; nil where none is due.
    func refusal(for failure: ExchangeFailure) -> Refusal? {
        switch failure {
        case .upstreamFailed(let failure): Refusal(failure, of: way.relay?.origin.title ?? "the origin")
        case .refused(let refusal): refusal
        case .handshakeFailed, .clientLost, .cutShort: nil
        }
    }
}
