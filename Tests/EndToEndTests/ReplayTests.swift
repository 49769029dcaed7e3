import Foundation
import TestSupport
import Testing

/// Content that is kept for being sent again: when it is, and how much of it there may be.
struct ReplayTests {
    private static let one = AttacheProcess.Setting(threads: 1)

    private func upload(_ proxy: AttacheProcess, _ origin: RecordingOrigin, bytes: Int) throws -> Fetched {
        let file = try Payload.file(bytes: bytes)
        return try proxy.get(origin.url("/upload"), "--data-binary", "@" + file, "-H", "Expect:")
    }

    @Test func `a nonce that is stale costs a large upload a round, no 401`() throws {
        let sentry = DigestGuard(.init(usesPerNonce: 1))
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok")
            #expect(try upload(proxy, origin, bytes: 200_000).text == "ok", "\(proxy.accessLog)")
            let uploads = origin.messages.filter { $0.method == "POST" }
            #expect(uploads.filter { $0["Authorization"] != nil }.count == 2)
            #expect(uploads.allSatisfy { $0.body.count == 200_000 })
            #expect(sentry.refused == [])
        }
    }

    enum End: CaseIterable {
        case answered
        case clientResets
        case originResets
        case clientEnds
    }

    @Test(arguments: End.allCases)
    func `the kept content of all requests is bounded, and free when one ends`(end: End) throws {
        let gate = Gate()
        // Each answer that goes unasked is refused once.
        let sentry = DigestGuard(.init(usesPerNonce: 1))
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                if request.target == "/held" {
                    gate.wait()
                    if end == .originResets { return connection.wire.abort() }
                    if end == .answered {
                        connection.record(content: try connection.wire.readContent(of: request))
                    }
                    try connection.reply("403 Forbidden", ["Connection: close"], "no")
                    _ = try connection.wire.readToEnd()
                    return
                }
                let whole = try connection.wire.readContent(of: request)
                connection.record(content: whole)
                switch try sentry.judge(whole) {
                case .challenged(let value): try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(value)"])
                case .accepted: try connection.reply(body: "ok")
                }
            }
        }
        let limits = "limits { replay-memory 1k; replay-disk 1m; replay-disk-total 100k }"
        try AttacheProcess.answering(origin.port, rules: limits) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok")
            let held = try proxy.connect()
            let fields = "Host: 127.0.0.1:\(origin.port)\r\nContent-Length: 80000\r\n\r\n"
            try held.send("POST \(origin.url("/held")) HTTP/1.1\r\n\(fields)")
            #expect(Wait.until { origin.messages.contains { $0.target == "/held" } })
            #expect(try proxy.metric("attache_replay_disk_bytes") == 78_976)
            let refused = try upload(proxy, origin, bytes: 80_000)
            #expect(refused.status == 401)
            #expect(refused["Proxy-Status"]?.contains("replay-disk-total") == true)
            #expect(origin.contents.last?["Expect"] == "100-continue")
            #expect(try upload(proxy, origin, bytes: 900).status == 200)
            #expect(try proxy.metric("attache_replay_disk_refused_total") == 1)
            switch end {
            case .answered:
                gate.open()
                try held.send(String(repeating: "x", count: 80_000))
                #expect(try held.readResponse().status == 403)
            case .clientResets: held.abort()
            case .originResets: gate.open()
            case .clientEnds: held.finishSending()
            }
            #expect(try Wait.until { try upload(proxy, origin, bytes: 80_000).status == 200 }, "\(proxy.accessLog)")
            #expect(try Wait.until { try proxy.metric("attache_replay_disk_bytes") == 0 })
            gate.open()
        }
    }

    @Test(arguments: [(900, false), (30_000, false), (200_000, true)])
    func `a PUT on a kept connection that was reset goes out again`(bytes: Int, isKept: Bool) throws {
        let origin = try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                if connection.number == 1, request.method == "PUT" { return connection.wire.abort() }
                try connection.reply(body: "\(try connection.wire.readContent(of: request).body.count)")
            }
        }
        let body = { (proxy: AttacheProcess) throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let file = try Payload.file(bytes: bytes)
            let sent = try proxy.get(origin.url(), "-T", file, "-H", "Expect:")
            #expect(sent.text == "\(bytes)", "\(proxy.accessLog)")
            #expect(origin.connections == 2)
        }
        if isKept {
            try AttacheProcess.answering(origin.port, setting: Self.one) { try body($0) }
        } else {
            try AttacheProcess.running(setting: Self.one) { try body($0) }
        }
    }
}
