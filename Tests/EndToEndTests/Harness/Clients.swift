import Foundation
import Synchronization
import TestSupport

/// Clients that send one GET after the other, each on a connection of its own that it keeps open.
final class Clients: Sendable {
    private struct State {
        var statuses: [Int: Int] = [:]
        /// The status of each client's latest response.
        var latest: [Int?]
        var slowest = Duration.zero
        /// The responses to requests that were sent after the latest mark, by client and status.
        var marked: [Int: [Int: Int]] = [:]
        var mark = ContinuousClock.now
        /// The time when the latest request was sent whose response had another status than 200.
        var latestFailure: ContinuousClock.Instant?
    }

    private let isOver = Atomic(false)
    private let state: Mutex<State>
    private let running = DispatchGroup()

    /// Starts the clients. Client N uses proxy N modulo the number of proxies.
    ///
    /// - Parameters:
    ///   - requests: the number of requests of each client; nil: until `stop`.
    ///   - pause: seconds between a response and the client's next request.
    ///   - url: the URL of a client's request, by the client's number and the request's, both from 0 on.
    init(
        _ count: Int, through proxies: [AttacheProcess], requests: Int? = nil, pause: Double = 0.02,
        url: @escaping @Sendable (_ client: Int, _ request: Int) -> String
    ) {
        state = Mutex(State(latest: Array(repeating: nil, count: count)))
        for client in 0..<count {
            let proxy = proxies[client % proxies.count]
            running.enter()
            Thread.detachNewThread { [self] in
                defer { running.leave() }
                var wire: Wire?
                for request in 0..<(requests ?? .max) {
                    if isOver.load(ordering: .relaxed) { return }
                    let (status, isKept) = ask(url(client, request), client, proxy, &wire)
                    // A client whose proxy has gone has nothing more to ask.
                    if status == 0 { return }
                    if !isKept { wire = nil }
                    if pause > 0 { _ = Wait.until(seconds: pause) { isOver.load(ordering: .relaxed) } }
                }
            }
        }
    }

    /// Clients that each ask for one of the URLs, over and over.
    convenience init(_ count: Int, _ urls: [String], through proxies: [AttacheProcess]) {
        self.init(count, through: proxies) { client, _ in urls[client % urls.count] }
    }

    /// Sends a request, and counts its response.
    private func ask(
        _ url: String, _ client: Int, _ proxy: AttacheProcess, _ wire: inout Wire?
    ) -> (status: Int, isKept: Bool) {
        let begin = ContinuousClock.now
        let authority = url.dropFirst("http://".count).prefix { $0 != "/" }
        var answered: Message?
        do {
            let connection = try wire ?? proxy.connect()
            wire = connection
            try connection.send("GET \(url) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            answered = try connection.readResponse(to: "GET")
        } catch {
            wire = nil
        }
        let status = answered?.status ?? 0
        state.withLock {
            $0.statuses[status, default: 0] += 1
            $0.latest[client] = status
            if begin > $0.mark {
                $0.slowest = max($0.slowest, ContinuousClock.now - begin)
                $0.marked[client, default: [:]][status, default: 0] += 1
            }
            if status != 200 { $0.latestFailure = max($0.latestFailure ?? begin, begin) }
        }
        return (status, answered?["Connection"]?.lowercased().contains("close") != true)
    }

    /// The number of responses by status; status 0 is a response that did not come.
    var statuses: [Int: Int] { state.withLock { $0.statuses } }

    /// Waits until the latest response of every client has the status.
    func awaitAll(_ status: Int, seconds: Double = 60) -> Bool {
        Wait.until(seconds: seconds) { state.withLock { $0.latest.allSatisfy { $0 == status } } }
    }

    /// Begins to count the responses to requests that are sent later, and to look for the slowest of them.
    func mark() {
        state.withLock {
            $0.mark = .now
            $0.marked = [:]
            $0.slowest = .zero
        }
    }

    /// Waits until each client has had responses to so many requests that it sent after the mark.
    ///
    /// - Returns: the number of these responses by status, of all clients; nil: they did not come.
    func awaitMarked(_ count: Int) -> [Int: Int]? {
        let isReached = Wait.until {
            state.withLock { state in
                state.latest.indices.allSatisfy { state.marked[$0]?.values.reduce(0, +) ?? 0 >= count }
            }
        }
        guard isReached else { return nil }
        return state.withLock { $0.marked.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) } }
    }

    /// The time when the latest request was sent whose response had another status than 200; nil: there was none.
    var latestFailure: ContinuousClock.Instant? { state.withLock { $0.latestFailure } }

    /// The longest time from a request to its response, since the latest mark.
    var slowest: Duration { state.withLock { $0.slowest } }

    /// Waits until clients that have a number of requests have sent them all.
    ///
    /// - Returns: the number of responses by status.
    func finish() -> [Int: Int] {
        running.wait()
        return statuses
    }

    /// Ends the clients after the requests that are under way.
    ///
    /// - Returns: the number of responses by status.
    func stop() -> [Int: Int] {
        isOver.store(true, ordering: .relaxed)
        return finish()
    }
}
