import Bytes
import IO
import Transport

/// The dashboard as it is open in a number of browsers: one login, and for each page its stream of server-sent events,
/// which is read as it comes.
final class DashboardPages {
    /// An open page.
    private final class Page {
        let stream: ByteStream
        var bytes = 0

        init(_ stream: ByteStream) { self.stream = stream }
    }

    private var pages: [Page] = []
    private static let patience: Milliseconds = 15_000

    /// - Parameter port: where the proxy's `admin` listens.
    init(
        _ count: Int, of proxy: RunningContestant, at port: UInt16, _ setting: Setting
    ) async throws(BenchError) {
        let printed = try Child.run([setting.options.attache, "admin", "token", "--config", proxy.file])
        guard let token = printed.split(separator: "token=").last?.prefix(while: \.isHexDigit), !token.isEmpty else {
            throw .contestant("`attache admin token` printed no link: \(printed)")
        }
        let authority = "Host: 127.0.0.1:\(port)\r\n"
        let login = try await Self.open(
            "POST /dashboard/session HTTP/1.1\r\n\(authority)Authorization: Bearer \(token)\r\nContent-Length: 0\r\n\r\n",
            port, setting)
        defer { login.stream.close() }
        let session = try Self.session(in: login.answer)
        for _ in 0..<count {
            let (stream, answer) = try await Self.open(
                "GET /dashboard/events HTTP/1.1\r\n\(authority)\(session)Accept: */*\r\n\r\n", port, setting)
            guard answer.hasPrefix("HTTP/1.1 200 ") else { throw .contestant("no events: \(answer.prefix(200))") }
            let page = LoopBound(Page(stream), to: setting.loop)
            pages.append(page.value)
            setting.loop.spawn {
                let buffer = ByteBuffer(capacity: 16384)
                page.value.stream.setDeadline(after: nil)
                while let count = try? await page.value.stream.read(into: buffer), count > 0 {
                    page.value.bytes += count
                    buffer.clear()
                }
            }
        }
    }

    /// The bytes that each page has got so far.
    var told: [Int] { pages.map(\.bytes) }

    func close() {
        for page in pages { page.stream.close() }
        pages = []
    }

    /// The fields of a session, as a page sends them.
    private static func session(in answer: String) throws(BenchError) -> String {
        let lines = answer.split(whereSeparator: \.isNewline)
        let cookie = lines.first { $0.lowercased().hasPrefix("set-cookie:") }?
            .dropFirst("set-cookie:".count).prefix { $0 != ";" }
        let key = answer.split(separator: "\"key\":\"").last?.prefix(while: \.isHexDigit)
        guard let cookie, let key, !key.isEmpty else { throw .contestant("no session: \(answer.prefix(200))") }
        return "Cookie:\(cookie)\r\nX-Attache-Key: \(key)\r\n"
    }

    /// Sends a request on a connection of its own, and reads what comes first.
    private static func open(
        _ request: String, _ port: UInt16, _ setting: Setting
    ) async throws(BenchError) -> (stream: ByteStream, answer: String) {
        do {
            let wakeup = Wakeup()
            let stream = try await Connector.connect(
                to: [.loopback(port)], within: patience, on: setting.loop, wakeup: wakeup)
            stream.wakeup = wakeup
            stream.setDeadline(after: patience)
            let buffer = ByteBuffer(capacity: 16384)
            buffer.append(Array(request.utf8))
            try await stream.write(from: buffer)
            buffer.clear()
            _ = try await stream.read(into: buffer)
            return (stream, buffer.readable.text)
        } catch { throw .connection(error) }
    }
}
