import Foundation
import Testing

/// A kept connection that dies under a request: one more try where that can do no harm (RFC 9110 section 9.2.2).
struct RetryTests {
    /// An origin whose first connection answers one request and dies at the second; later ones live.
    private func mortal() throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            while let request = try connection.request() {
                if connection.number == 1, request.target == "/second" { return connection.wire.abort() }
                try connection.reply(body: "connection \(connection.number)")
            }
        }
    }

    private func exchange(_ method: String, content: String = "") throws -> (RecordingOrigin, Message) {
        let origin = try mortal()
        return try AttacheProcess.running(setting: .init(threads: 1)) { proxy throws in
            #expect(try proxy.get(origin.url("/first")).text == "connection 1")
            let length = content.isEmpty ? "" : "Content-Length: \(content.utf8.count)\r\n"
            let fields = "Host: 127.0.0.1:\(origin.port)\r\n\(length)\r\n"
            let request = "\(method) \(origin.url("/second")) HTTP/1.1\r\n\(fields)\(content)"
            return (origin, try proxy.exchange(request, method: method))
        }
    }

    @Test(arguments: ["GET", "OPTIONS", "DELETE"])
    func `an idempotent request is sent once more on a new connection`(method: String) throws {
        let (origin, answered) = try exchange(method)
        #expect(answered.status == 200)
        #expect(origin.messages.filter { $0.target == "/second" }.count == 2)
    }

    @Test func `a connection that the origin closed while idle is not noticed by the client`() throws {
        let origin = try RecordingOrigin { connection in
            _ = try connection.request()
            try connection.reply(body: "ok")
        }
        try AttacheProcess.running { proxy throws in
            for method in ["GET", "POST", "GET", "POST"] {
                #expect(try proxy.get(origin.url(), "-X", method, "-d", "x").status == 200)
            }
            #expect(origin.requests.count == 4)
        }
    }

    @Test func `a response that began is not asked for again`() throws {
        let origin = try RecordingOrigin { connection in
            while let request = try connection.request() {
                if request.target == "/second" {
                    return try connection.wire.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                }
                try connection.reply(body: "ok")
            }
        }
        try AttacheProcess.running(setting: .init(threads: 1)) { proxy throws in
            #expect(try proxy.get(origin.url("/first")).status == 200)
            #expect(try proxy.get(origin.url("/second")).run.status != 0)
            #expect(origin.messages.filter { $0.target == "/second" }.count == 1)
        }
    }

    @Test func `a connection whose client went away is not used again`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/large" {
                try connection.wire.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf ")
                gate.wait()
                try connection.wire.send("rest!")
            } else {
                try connection.reply(body: "clean")
            }
        }
        try AttacheProcess.running(setting: .init(threads: 1)) { proxy throws in
            let wire = try proxy.connect()
            try wire.send("GET \(origin.url("/large")) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            _ = try wire.readHead()
            wire.abort()
            gate.open()
            for _ in 1...5 { #expect(try proxy.get(origin.url("/after")).text == "clean") }
        }
    }

    @Test func `a challenge of a request that went out at once is answered alone`() throws {
        let sentry = DigestGuard(.init(usesPerNonce: 1))
        let origin = try RecordingOrigin.guarded(by: sentry)
        let setting = AttacheProcess.Setting(threads: 1)
        try AttacheProcess.answering(origin.port, modifiers: "authorization replace", setting: setting) {
            proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url(), "-H", "Authorization: Bearer mine").status == 200) }
            #expect(origin.messages.allSatisfy { $0.values("Authorization").count <= 1 })
            #expect(origin.messages.allSatisfy { $0["Authorization"]?.contains("mine") != true })
        }
    }
}
