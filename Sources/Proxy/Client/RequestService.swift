import Bytes
import HTTP
import IO
import Telemetry
import Transport

/// Carries a request out in a task, from wherever it stands, and answers the client in any case.
struct RequestService {
    /// How far the request has come.
    enum Stage {
        /// The client has said something to a listener that speaks TLS.
        case arriving(ListenerIdentity)
        /// The head is there, and the client may use the proxy once it has said who it is.
        case admitted
        case planned(RequestPlanning.Plan)
        /// It went out, or what `outbound` does not hold of it, and its response is awaited.
        case sent(Destination)
        /// Its response stands in `outbound`, as far as the client has not taken it.
        case answered(keepsConnection: Bool)
        case failed(ExchangeFailure)

        /// What shows that the client has left. A client that leaves in its handshake says why, in an alert that is still
        /// to be read.
        var departure: Requester.Departure {
            switch self {
            case .arriving: .none
            case .admitted, .planned, .sent: .end
            case .answered, .failed: .reset
            }
        }
    }

    let session: ClientSession
    let exchange: Exchange

    /// - Returns: whether the client's connection can carry another request.
    func serve(from stage: Stage) async -> Bool {
        let goesOn: Bool
        do throws(ExchangeFailure) {
            goesOn = try await carryOut(from: stage)
        } catch {
            goesOn = await conclude(after: error)
        }
        session.requester.leaves(by: .none, in: exchange)
        return goesOn
    }

    private func carryOut(from stage: Stage) async throws(ExchangeFailure) -> Bool {
        guard session.requester.presence.isWanted else { throw .clientLost }
        switch stage {
        case .arriving(let identity):
            try await SecureArrival(session: session, exchange: exchange).accept(as: identity)
            return true
        case .admitted:
            return try await authenticateAndGoOn()
        case .planned(let plan):
            return try await carryOut(plan)
        case .sent(let destination):
            var forwarding = Forwarding(requester: session.requester, exchange: exchange, destination: destination)
            return try await forwarding.run(isSent: true)
        case .answered(let keepsConnection):
            try await session.requester.write(exchange.outbound)
            return keepsConnection
        case .failed(let failure): throw failure
        }
    }

    private func authenticateAndGoOn() async throws(ExchangeFailure) -> Bool {
        if let authentication = session.authentication(for: exchange) {
            try await authentication.check(exchange, of: session)
        }
        return try await carryOut(RequestPlanning(session: session, exchange: exchange).plan())
    }

    private func carryOut(_ plan: RequestPlanning.Plan) async throws(ExchangeFailure) -> Bool {
        switch plan {
        case .forward(let destination), .tunnel(let destination):
            try await session.worker.upstreams.renewWays(
                to: destination, by: exchange.policy, for: session.requester.waiting(on: exchange))
        case .answerOptions: break
        }
        switch plan {
        case .forward(let destination):
            var forwarding = Forwarding(requester: session.requester, exchange: exchange, destination: destination)
            return try await forwarding.run(isSent: false)
        case .tunnel(let destination):
            return try await TunnelOpening(session: session, exchange: exchange, destination: destination).open()
        case .answerOptions:
            return try await Answer(session: session, exchange: exchange).sendOptions()
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
        case .upstreamFailed(let failure):
            let peer = exchange.way.relay?.origin.title ?? "the origin"
            return await refuse(Refusal(failure, of: peer))
        case .refused(let refusal): return await refuse(refusal)
        }
    }

    private func refuse(_ refusal: Refusal) async -> Bool {
        session.requester.leaves(by: .reset, in: exchange)
        return await Answer(session: session, exchange: exchange).send(refusal)
    }
}
