import Bytes
import IO
import Transport

/// Requests that a rule asks an operator about, each to its own space and from its own client connection. They get no
/// answer.
final class OpenQuestions {
    /// The number of requests that wait at once, unless the rule file sets another.
    static let limit = 100

    private let count: LoopBound<Count>
    private var streams: [ByteStream] = []
    private static let patience: Milliseconds = 600_000

    private final class Count {
        var answers = 0
    }

    /// The number of requests that were answered because newer questions replaced theirs.
    var cancelled: Int { count.value.answers }

    init(_ questions: Int, through proxy: RunningContestant, _ setting: Setting) async throws(BenchError) {
        count = LoopBound(Count(), to: setting.loop)
        let (loop, count, authority) = (setting.loop, count, "127.0.0.1:\(setting.originPort)")
        for number in 0..<questions {
            do {
                let wakeup = Wakeup()
                let stream = try await Connector.connect(
                    to: [.loopback(proxy.route.port)], within: 15_000, on: loop, wakeup: wakeup)
                stream.wakeup = wakeup
                stream.setDeadline(after: Self.patience)
                streams.append(stream)
                let buffer = ByteBuffer(capacity: 4096)
                buffer.append(
                    Array("GET http://\(authority)/ask/\(number) HTTP/1.1\r\nHost: \(authority)\r\n\r\n".utf8))
                try await stream.write(from: buffer)
                buffer.clear()
                let bound = LoopBound((stream, buffer), to: loop)
                loop.spawn {
                    let (stream, buffer) = bound.value
                    if let read = try? await stream.read(into: buffer), read > 0 { count.value.answers += 1 }
                }
            } catch { throw .connection(error) }
        }
    }

    func close() {
        for stream in streams { stream.close() }
        streams = []
    }
}
