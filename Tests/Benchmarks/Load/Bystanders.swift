import Bytes
import IO

/// Clients that ask all the time while another client attacks. Each has a TLS connection of its own, by HTTP/1.1.
final class Bystanders {
    private final class Record {
        var isOver = false
        var requests = 0
        var slowest = Duration.zero
        var failure: BenchError?
    }

    private let record: LoopBound<Record>
    private var tasks: [Task<Void, Never>] = []
    /// The pause of a client after each response. It leaves the processor that the clients share with the attacker to the
    /// attacker.
    private static let pause: Milliseconds = 2

    init(_ count: Int, through proxy: RunningContestant, in setting: Setting) async throws(BenchError) {
        let loop = setting.loop
        let record = LoopBound(Record(), to: loop)
        self.record = record
        let route = Route.secureForward(proxy: proxy.route.port)
        let request = route.request(Workload.plain.path, origin: setting.originPort)
        let security = try setting.secure().fresh
        for _ in 0..<count {
            let client = LoopBound(
                try await Client.connect(route, origin: setting.originPort, security: security, on: loop), to: loop)
            let task = loop.spawn { await Bystanders.ask(request, client, record) }
            tasks.append(task)
        }
    }

    private static func ask(_ request: [UInt8], _ client: LoopBound<Client>, _ record: LoopBound<Record>) async {
        let wakeup = Wakeup()
        let alarm = Alarm(on: client.loop) { wakeup.signal() }
        let (client, record) = (client.value, record.value)
        defer { client.close() }
        do throws(BenchError) {
            while !record.isOver {
                let begin = ContinuousClock.now
                _ = try await client.exchange(request)
                record.slowest = max(record.slowest, ContinuousClock.now - begin)
                record.requests += 1
                alarm.set(after: pause)
                await wakeup.wait()
            }
        } catch {
            record.failure = record.failure ?? error
        }
    }

    /// Begins to count, and to look for the slowest request. Requests that are under way belong to it.
    func mark() {
        record.value.requests = 0
        record.value.slowest = .zero
    }

    /// Milliseconds that the slowest request took which has ended since the mark.
    var slowest: Double { record.value.slowest / .milliseconds(1) }

    /// The requests that have ended since the mark.
    var requests: Int { record.value.requests }

    /// Ends the clients after the requests that are under way.
    /// - Throws: the first request that failed.
    func stop() async throws(BenchError) {
        record.value.isOver = true
        for task in tasks { await task.value }
        if let failure = record.value.failure { throw failure }
    }
}
