import Bytes
import HTTP
import IO
import Transport

/// The HTTP/2 connections of one loop with one server, and what is known about the server's versions of HTTP.
///
/// Belongs to its loop.
public final class SharedConnections {
    /// The connection that a request needs.
    public struct Wish {
        let terms: ConnectionTerms
        let isNew: Bool
        let mayBeShared: Bool
        let wait: Milliseconds
        let responses: Limits

        /// - Parameters:
        ///   - isNew: whether only a new connection will do.
        ///   - mayBeShared: whether later requests may use it.
        ///   - wait: the longest wait for others.
        ///   - responses: the limits of a response's head.
        public init(
            under terms: ConnectionTerms, isNew: Bool, mayBeShared: Bool, within wait: Milliseconds, responses: Limits
        ) {
            self.terms = terms
            self.isNew = isNew
            self.mayBeShared = mayBeShared
            self.wait = wait
            self.responses = responses
        }
    }

    /// A handshake that may end with HTTP/2, and the requests that wait for it instead of making their own.
    private final class Handshake {
        let terms: ConnectionTerms
        var waiting: [Expectation<Void>] = []
        /// Why it failed; nil if it has not.
        var failure: Refusal?

        init(_ terms: ConnectionTerms) { self.terms = terms }

        func end() {
            for expectation in waiting { expectation.fulfil(()) }
            waiting.removeAll()
        }
    }

    private let pool: IdlePool
    private let name: String
    /// Whether the number of connections is limited. With a parent it is not: tunnels last, and no request waits for their end.
    private let isLimited: Bool
    private var connections: [SharedConnection] = []
    private var handshakes: [Handshake] = []
    /// The requests that wait for a stream, because there are as many connections as there may be.
    private var waiting: [Expectation<Void>] = []
    /// Whether the next connection is likely to speak HTTP/2: the last one did, or there was none and the server has no TLS,
    /// and so no choice.
    private var isExpected: Bool
    private var needsHTTP11Until = LoopInstant.zero

    /// The limit of connections under the same terms, if they have room for `streamGoal` requests at once.
    private static let connectionLimit = 8
    private static let streamGoal = 100
    /// The time for which it is remembered that the server needs HTTP/1.1 for some requests.
    private static let memory: Milliseconds = .minutes(10)

    /// - Parameters:
    ///   - name: the server's name in texts for the client.
    ///   - isSecure: whether the server has TLS. One without TLS gets here only if it is known to speak HTTP/2.
    ///   - isLimited: whether requests wait for a stream rather than make ever more connections.
    init(in pool: IdlePool, named name: String, isSecure: Bool, isLimited: Bool) {
        self.pool = pool
        self.name = name
        self.isLimited = isLimited
        isExpected = !isSecure
    }

    var isEmpty: Bool { connections.isEmpty }

    /// Whether the server has refused a request by HTTP/2 that it would answer by HTTP/1.1.
    public func needsHTTP11(at now: LoopInstant) -> Bool { now < needsHTTP11Until }

    public func noteNeedOfHTTP11(at now: LoopInstant) { needsHTTP11Until = now + Self.memory }

    /// Gives out a stream of a connection under these terms, of the one with the most streams in use. So the others become
    /// idle, and close.
    public func take(under terms: ConnectionTerms) -> (connection: OriginConnection, isReused: Bool)? {
        var best: SharedConnection?
        for connection in connections where connection.terms == terms && connection.hasRoom {
            guard connection.carrier.isStillTrusted, pool.isCurrent(terms) else {
                connection.retire()
                continue
            }
            if let best, best.used >= connection.used { continue }
            best = connection
        }
        return best?.open()
    }

    /// Makes a connection for a request, or gives it a stream of one that is there by then. If the server is known to speak
    /// HTTP/2, requests wait for a handshake that is under way. If that takes longer than it may, they fail with it.
    ///
    /// - Parameter make: makes a connection. If TLS on it has agreed on HTTP/2, the request gets its first stream.
    public func connect(
        _ wish: Wish, on loop: EventLoop, _ make: () async throws(Refusal) -> OriginConnection
    ) async throws(Refusal) -> (connection: OriginConnection, isReused: Bool) {
        let (terms, end, policies) = (wish.terms, loop.now + wish.wait, pool.policies)
        var waits = !wish.isNew && isExpected
        while waits {
            if let stream = take(under: terms) { return stream }
            let handshake = handshakes.first { $0.terms == terms && $0.waiting.count < Self.streamGoal }
            if isLimited, isFull(under: terms) {
                if connections.contains(where: { $0.terms == terms && $0.makeRoom() }) { continue }
                guard await wait(within: loop.now.time(until: end)) else {
                    if loop.now < end { break }
                    throw .busy("all HTTP/2 connections with \(name) are in use", retryAfter: .seconds(1))
                }
            } else if let handshake {
                let expectation = Expectation<Void>()
                handshake.waiting.append(expectation)
                waits = await expectation.value(within: loop.now.time(until: end)) != nil && isExpected
                // Another attempt would double the time that the client waits.
                if let failure = handshake.failure, failure.error == .connectionTimeout { throw failure }
            } else {
                waits = false
            }
        }
        let handshake = Handshake(terms)
        handshakes.append(handshake)
        defer {
            handshakes.removeAll { $0 === handshake }
            handshake.end()
        }
        let connection: OriginConnection
        do throws(Refusal) { connection = try await make() } catch {
            isExpected = false
            handshake.failure = error
            throw error
        }
        isExpected = connection.speaksHTTP2
        guard isExpected else { return (connection, false) }
        let (shared, isNeeded) = try share(connection, responses: wish.responses, on: loop)
        let stream = shared.open()
        if !isNeeded || !wish.mayBeShared || pool.policies != policies { shared.retire() }
        return stream
    }

    /// Keeps a connection that no request uses yet. Its TLS has agreed on HTTP/2.
    /// - Parameter isCurrent: whether requests may use it.
    public func keep(_ connection: OriginConnection, responses: Limits, isCurrent: Bool, on loop: EventLoop) {
        isExpected = true
        guard let (shared, isNeeded) = try? share(connection, responses: responses, on: loop) else { return }
        if !isNeeded || !isCurrent { shared.retire() }
    }

    /// - Returns: the connection, and whether requests may need it beside the others.
    private func share(
        _ carrier: OriginConnection, responses: Limits, on loop: EventLoop
    ) throws(Refusal) -> (connection: SharedConnection, isNeeded: Bool) {
        let isNeeded = !connections.contains { $0.terms == carrier.terms && $0.hasRoom }
        let connection: SharedConnection
        do {
            connection = try SharedConnection(over: carrier, limits: responses, on: loop, countedBy: pool.metrics)
        } catch {
            carrier.stream.close()
            throw Refusal(.serviceUnavailable, .proxyInternalError, "this proxy has not enough memory; try again")
        }
        connections.append(connection)
        pool.enter(sharing: connection)
        connection.schedule()
        // Of several handshakes at once, one connection is enough.
        return (connection, isNeeded && pool.isCurrent(carrier.terms))
    }

    private func isFull(under terms: ConnectionTerms) -> Bool {
        var count = handshakes.count { $0.terms == terms }
        var streams = count * Self.streamGoal
        for connection in connections where connection.terms == terms && !connection.isRetired {
            count += 1
            streams += connection.limit
        }
        return count >= Self.connectionLimit && streams >= Self.streamGoal
    }

    // MARK: - Requests that wait for a stream

    /// - Returns: whether there may be room now; false if the time has passed, or the task was cancelled.
    private func wait(within limit: Milliseconds) async -> Bool {
        let expectation = Expectation<Void>()
        waiting.append(expectation)
        let isRoom = await expectation.value(within: limit) != nil
        waiting.removeAll { $0 === expectation }
        if !isRoom { noteRoom() }
        return isRoom
    }

    /// A connection may have room for another request, or may be made.
    func noteRoom() {
        guard !waiting.isEmpty else { return }
        waiting.removeFirst().fulfil(())
    }

    // MARK: - Connections

    func remove(_ connection: SharedConnection) {
        connections.removeAll { $0 === connection }
        pool.leave(sharing: connection)
    }
}
