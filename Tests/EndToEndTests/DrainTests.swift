import Foundation
import TestSupport
import Testing

/// SIGTERM: what is in flight ends well, nothing new begins, and the process goes.
struct DrainTests {
    @Test func `a response in flight is completed`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.wire.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
            gate.wait()
            try connection.wire.send("last!")
        }
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            let head = try #require(try wire.readHead())
            proxy.terminate()
            let isClosed = Wait.until { (try? Socket.connect(to: proxy.port)).map { close($0) } == nil }
            #expect(isClosed, "new connections are still accepted")
            #expect(proxy.isRunning)
            gate.open()
            #expect(try wire.readContent(of: head).text == "firstlast!")
            #expect(try wire.isEnded())
            #expect(proxy.awaitExit() == 0)
        }
    }

    @Test func `idle connections do not hold the process`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let wire = try proxy.connect()
            let silent = try proxy.connect()
            try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            #expect(try wire.readResponse().status == 200)
            proxy.terminate()
            #expect(try wire.isEnded())
            #expect(try silent.isEnded())
            #expect(proxy.awaitExit() == 0)
        }
    }

    @Test func `the drain has an end`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, _ in gate.wait() }
        try AttacheProcess.running("timeouts { drain 1s }") { proxy throws in
            let wire = try proxy.connect()
            try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            let isHeld = Wait.until { !origin.requests.isEmpty }
            #expect(isHeld)
            proxy.terminate()
            #expect(proxy.awaitExit() != nil)
            gate.open()
        }
    }

    @Test func `a second SIGTERM ends it at once`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, _ in gate.wait() }
        try AttacheProcess.running("timeouts { drain 1h }") { proxy throws in
            let wire = try proxy.connect()
            try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            let isHeld = Wait.until { !origin.requests.isEmpty }
            #expect(isHeld)
            proxy.terminate()
            let isClosed = Wait.until { (try? Socket.connect(to: proxy.port)).map { close($0) } == nil }
            #expect(isClosed)
            #expect(proxy.isRunning)
            proxy.terminate()
            #expect(proxy.awaitExit() == 0)
            #expect(
                proxy.errorOutput.contains("stopped with 1 connections still open, because of a second signal"))
            gate.open()
        }
    }

    @Test func `SIGINT ends it as well`() throws {
        try AttacheProcess.running { proxy throws in
            kill(proxy.identifier, SIGINT)
            #expect(proxy.awaitExit() == 0)
        }
    }

    @Test func `the access log is complete when the process has ended`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            for _ in 1...20 { #expect(try proxy.get(origin.url()).status == 200) }
            proxy.terminate()
            #expect(proxy.awaitExit() == 0)
            #expect(proxy.accessLogLines.count == 20)
        }
    }
}
