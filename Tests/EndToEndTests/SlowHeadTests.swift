import Foundation
import Testing

/// Heads that do not come in one piece.
struct SlowHeadTests {
    @Test(arguments: [1, 7, 1000])
    func `a head in many pieces is the same request, with its body and the next behind it`(size: Int) throws {
        let origin = try RecordingOrigin.answering()
        // More than one buffer takes at once, where the pieces are not too many.
        let filler = String(repeating: "f", count: size < 100 ? 50 : 30_000)
        let head = "POST \(origin.url("/a")) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nX-Filler: \(filler)\r\n"
        let request = Array("\(head)Content-Length: 4\r\n\r\nbody".utf8)
        let next = Array("GET \(origin.url("/b")) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n".utf8)
        try AttacheProcess.running(setting: .init(threads: 1)) { proxy throws in
            let wire = try proxy.connect()
            let bytes = request + next
            for start in stride(from: 0, to: bytes.count, by: size) {
                try wire.send(Array(bytes[start..<min(start + size, bytes.count)]))
                // Another client's turn: the proxy has seen what was sent.
                if size < 100 || start % 5000 == 0 { _ = try proxy.exchange("GET / HTTP/1.0\r\n\r\n") }
            }
            #expect(try wire.readResponse().status == 200)
            #expect(try wire.readResponse().status == 200)
            #expect(origin.messages.map(\.target) == ["/a", "/b"])
            #expect(origin.messages.first?["X-Filler"] == filler)
            #expect(origin.messages.first.map { String(decoding: $0.body, as: UTF8.self) } == "body")
        }
    }

    @Test func `a fault in a later piece is answered, and the limits hold for all pieces together`() throws {
        let rules = "limits { head 1k; start-line 512 }"
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            let begin = "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"
            for (pieces, status) in [
                ([begin, "bad field\r\n\r\n"], 400), ([begin, "A: b\n\n"], 400),
                ([begin] + Array(repeating: "A: \(String(repeating: "b", count: 90))\r\n", count: 12), 431),
                (["GET http://127.0.0.1:1/"] + Array(repeating: String(repeating: "p", count: 100), count: 6), 414),
            ] {
                let wire = try proxy.connect()
                for piece in pieces {
                    try wire.send(piece)
                    _ = try proxy.exchange("GET / HTTP/1.0\r\n\r\n")
                }
                #expect(try wire.readResponse().status == status, "\(pieces)")
                #expect(try wire.isEnded())
            }
        }
    }

    @Test func `a connection without a request is not kept as long as one that has made one`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running("timeouts { head 1s; idle 300s }") { proxy throws in
            let kept = try proxy.connect()
            let request = "GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
            try kept.send(request)
            #expect(try kept.readResponse().status == 200)
            // Opened later, and ended earlier, or not at all before the wire gives up.
            #expect(try proxy.connect().readToEnd() == [])
            try kept.send(request)
            #expect(try kept.readResponse().status == 200)
        }
    }

    @Test func `a client that has reset its connection stands in the log by its address`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: .init(threads: 1)) { proxy throws in
            // Stopped, it accepts the connection after the reset.
            kill(proxy.identifier, SIGSTOP)
            defer { kill(proxy.identifier, SIGCONT) }
            let wire = try proxy.connect()
            try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            wire.abort()
            kill(proxy.identifier, SIGCONT)
            #expect(try proxy.get(origin.url()).status == 200)
            let clients = try proxy.records(atLeast: 2).map { $0["client"] }
            #expect(clients == ["127.0.0.1", "127.0.0.1"])
        }
    }
}
