import Bytes
import IO

/// A closed loop: each of a number of clients sends its next request when it has the answer to the one before. Unless
/// told otherwise they keep their connections, also from one run to the next.
final class LoadGenerator {
    /// The end of a run.
    enum Goal {
        case requests(Int)
        case milliseconds(Int)
    }

    /// A client's use of its connection after a response.
    enum Manner {
        case keeps
        /// Closes it and opens another, with nothing remembered or with the session that it was given.
        case reconnects
    }

    /// The state that the connections of one run share.
    private final class Run {
        var load = Load()
        /// Requests that no connection has taken yet.
        var untaken: Int
        let end: LoopInstant
        var failure: BenchError?

        init(_ goal: Goal, now: LoopInstant) {
            switch goal {
            case .requests(let count): (untaken, end) = (count, .distantFuture)
            case .milliseconds(let time): (untaken, end) = (.max, now + Milliseconds(time))
            }
        }

        func takesOne(at now: LoopInstant) -> Bool {
            guard untaken > 0, now < end, failure == nil else { return false }
            untaken -= 1
            return true
        }
    }

    private let loop: EventLoop
    private let request: [UInt8]
    private let manner: Manner
    private let opening: @Sendable () async throws(BenchError) -> LoopBound<Client>
    private var clients: [Client] = []

    /// Connects `connections` clients, one after the other.
    /// - Parameter security: what TLS is spoken with where the route has TLS.
    init(
        _ connections: Int, over route: Route, to path: String, origin: UInt16, security: LoadSecurity? = nil,
        manner: Manner = .keeps, on loop: EventLoop
    ) async throws(BenchError) {
        self.loop = loop
        self.manner = manner
        request = route.request(path, origin: origin)
        opening = { () async throws(BenchError) in
            LoopBound(try await Client.connect(route, origin: origin, security: security, on: loop), to: loop)
        }
        for _ in 0..<connections { clients.append(try await opening().value) }
    }

    /// Runs until the goal is reached; to be called on the loop.
    /// - Throws: the first wrong answer.
    func run(_ goal: Goal) async throws(BenchError) -> Load {
        let run = LoopBound(Run(goal, now: loop.now), to: loop)
        let tasks = clients.map { client in
            let client = LoopBound(client, to: loop)
            return loop.spawn { [loop, request, manner, opening] in
                let run = run.value
                do throws(BenchError) {
                    while run.takesOne(at: loop.now) {
                        switch manner {
                        case .keeps: run.load.bytes += try await client.value.exchange(request)
                        case .reconnects:
                            let another = try await opening().value
                            defer { another.close() }
                            run.load.bytes += try await another.exchange(request)
                        }
                        run.load.requests += 1
                    }
                } catch {
                    run.failure = run.failure ?? error
                }
            }
        }
        for task in tasks { await task.value }
        if let failure = run.value.failure { throw failure }
        return run.value.load
    }

    /// One request on each connection, one after the other.
    func runEach() async throws(BenchError) {
        for client in clients { _ = try await client.exchange(request) }
    }

    func close() {
        for client in clients { client.close() }
        clients = []
    }
}
