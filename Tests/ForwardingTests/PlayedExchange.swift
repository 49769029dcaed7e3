import Bytes
import Credentials
import DNS
import HTTP
import IO
import Model
import Telemetry
import TestNetwork
import TestPolicies
import Transport

@testable import Forwarding
@testable import Upstream

/// The machine of one client's requests, between a played client, played servers and a played clock. Belongs to the thread
/// that plays.
final class PlayedExchange: Channel.Observer, Wakeup.Companion {
    enum Outcome: Equatable {
        case ended(keeps: Bool)
        case upgraded(early: String)
        case clientLost
        /// The client gets this status.
        case refused(Int, ProxyError)
        case upstreamFailed
        case cutShort(ProxyError)
    }

    struct Flaw: Error { let sentence: String }

    let run: Forwarding
    let downstream: Downstream
    let client: PlayedEnd
    /// The connections that the proxy has wanted, in their order.
    private(set) var servers: [PlayedEnd] = []
    /// Nil while the exchange is under way.
    private(set) var outcome: Outcome?
    /// The number of times that the machine waited for a task.
    private(set) var taskCount = 0
    private let loop: EventLoop
    private let clock: ManualClock
    private let network: PlayedNetwork
    private let policy: Policy
    private var isWorking = false
    private var isAdvancing = false

    /// Milliseconds that work on other threads may take.
    private static let patience: Milliseconds = 20_000

    private init(_ policy: Policy, on loop: EventLoop, by clock: ManualClock) throws {
        (self.loop, self.clock, self.policy) = (loop, clock, policy)
        network = PlayedNetwork(on: loop)
        let upstreams = Upstreams(policy: policy, shared: sharedState(), on: loop, in: network, idleLimit: 8)
        let (socket, end) = try PlayedEnd.pair(on: loop)
        client = end
        downstream = Downstream(ByteStream(socket), at: IPAddress(v4: 0x7F00_0001), over: upstreams)
        run = Forwarding(policy: policy, on: loop)
        downstream.wakeup.driver = self
        downstream.observer = self
        downstream.stream.rest(telling: self)
    }

    /// - Parameter credentials: their passwords by name; the user has the same name.
    static func play<Value: Sendable>(
        _ rules: String = "", credentials: [String: String] = [:],
        _ body: @escaping @Sendable (PlayedExchange) throws -> Value
    ) async throws -> Value {
        // The thread becomes the loop's, which one that runs tasks cannot be.
        let result = await BlockingPool.shared.run {
            Result {
                let clock = ManualClock(start: 1_767_225_600_000)
                let loop = try EventLoop(index: 0, clock: clock)
                let policy = try TestPolicies.policy(
                    rules, egress: "allow any; connect-ports any",
                    credentials: credentials.mapValues { password in
                        ("user", .literal(RedactedText(password)))
                    })
                return try loop.occupyThread {
                    let played = try PlayedExchange(policy, on: loop, by: clock)
                    defer { played.leave() }
                    return try body(played)
                }
            }
        }
        return try result.get()
    }

    private func leave() {
        client.close()
        settle()
        run.dissolve(into: loop.buffers)
        for server in servers { server.close() }
        downstream.wakeup.driver = nil
        downstream.observer = nil
        downstream.closeOwn()
        settle()
    }

    // MARK: - The client

    /// Begins with a request, as a session does.
    /// - Parameter lines: of the head, without their ends.
    func ask(_ lines: String..., content: String = "", as purpose: Forwarding.Purpose = .client) throws {
        if outcome != nil { run.reset() }
        outcome = nil
        let exchange = run.exchange
        let head = exchange.headBytes
        head.append(lines.joined(separator: "\r\n") + "\r\n\r\n")
        guard case .complete = try exchange.request.parse(head.readable),
            let authority = exchange.request.authority
        else { throw Flaw(sentence: "the head is not whole") }
        exchange.body.begin(exchange.request.framing, limits: policy.limits.request)
        exchange.inbound.append(content)
        exchange.destination = downstream.upstreams.destination(
            exchange.request.target.scheme ?? .https, host: head.readable.extracting(authority.host),
            port: authority.explicitPort ?? 80, by: policy.rules)
        downstream.leaves(by: .end, in: exchange)
        run.begin(for: purpose)
        advance()
        settle()
    }

    func clientSends(_ text: String) {
        client.send(Array(text.utf8))
        settle()
    }

    /// Takes the bytes that have come to the client.
    func clientHears() -> String { Self.take(client) }

    // MARK: - The servers

    /// The server to which the proxy wants to connect.
    func accept(at place: String) throws -> PlayedEnd {
        guard let dial = network.dials.first, dial.place == place else {
            throw Flaw(sentence: "no connection to \(place) is wanted, but \(network.dials.map(\.place))")
        }
        network.dials.removeFirst()
        dial.settle(.accepted)
        settle()
        guard let end = dial.end else { throw Flaw(sentence: "there is no connection") }
        servers.append(end)
        settle()
        return end
    }

    func refuseConnection() {
        for dial in network.dials { dial.settle(.refused) }
        network.dials = []
        settle()
    }

    var isDialling: Bool { !network.dials.isEmpty }

    /// - Parameter lines: of the head, without their ends.
    func say(_ lines: String..., content: String = "", by server: PlayedEnd) {
        server.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + content).utf8))
        settle()
    }

    func send(_ content: String, by server: PlayedEnd) {
        server.send(Array(content.utf8))
        settle()
    }

    func heard(by server: PlayedEnd) -> String { Self.take(server) }

    private static func take(_ end: PlayedEnd) -> String {
        defer { end.incoming = [] }
        return String(decoding: end.incoming, as: UTF8.self)
    }

    // MARK: - Time

    func pass(_ milliseconds: Int) {
        var rest = Milliseconds(milliseconds)
        settle()
        while rest > 0 {
            let step = min(rest, max(1, loop.timeToNextDeadline ?? rest))
            clock.advance(by: step)
            rest = rest - step
            settle()
        }
    }

    func settle() {
        while true {
            _ = loop.runUntilIdle(within: Self.patience)
            let ends = [client] + servers + network.dials.compactMap(\.end)
            if ends.count(where: { $0.pump() }) == 0 { return }
        }
    }

    // MARK: - The machine

    func channelChanged(_ channel: Channel) {
        if channel === downstream.stream.channel { downstream.notice(run.exchange) }
        wakeupSignalled()
    }

    func wakeupSignalled() { if !isAdvancing, !isWorking { advance() } }

    private func advance() {
        guard outcome == nil else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        do throws(ExchangeFailure) {
            switch try run.advance(for: downstream) {
            case .awaitsEvent: watch()
            case .awaitsWork: work()
            case .upgraded(let tunnel):
                outcome = .upgraded(early: tunnel.early?.readable.text ?? "")
                tunnel.stream.close()
            case .ended(let keeps): outcome = .ended(keeps: keeps)
            }
        } catch { fail(error) }
    }

    private func fail(_ failure: ExchangeFailure) {
        outcome =
            switch failure {
            case .refused(let refusal): .refused(Int(refusal.status.rawValue), refusal.error)
            case .upstreamFailed: .upstreamFailed
            case .clientLost, .needsHTTP11: .clientLost
            case .cutShort(let error, _): .cutShort(error)
            case .handshakeFailed(let error, _): .cutShort(error)
            }
    }

    private func watch() {
        downstream.observer = self
        downstream.stream.rest(telling: self)
        run.exchange.upstream.stream?.rest(telling: self)
    }

    private func work() {
        isWorking = true
        taskCount += 1
        downstream.observer = nil
        downstream.stream.wakeup = downstream.wakeup
        if let upstream = run.exchange.upstream.stream {
            upstream.forgetObserver()
            upstream.wakeup = downstream.wakeup
        }
        let bound = LoopBound(self, to: loop)
        let task = loop.spawn {
            let played = bound.value
            do throws(ExchangeFailure) { try await played.run.performWork(for: played.downstream) } catch {
                played.fail(error)
            }
            played.isWorking = false
            played.downstream.presence.finish()
            played.downstream.observer = played
            played.advance()
        }
        downstream.presence.begin(task)
    }
}
