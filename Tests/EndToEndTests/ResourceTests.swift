import Foundation
import Testing

/// What happens when the machine gives no more.
struct ResourceTests {
    /// Says how many bytes it read, once the client has finished.
    private static func counter() throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            let received = try connection.wire.readToEnd()
            try connection.wire.send("got \(received.count)")
        }
    }

    @Test func `with few descriptors clients wait their turn, and none loses a byte`() throws {
        let origin = try Self.counter()
        let setting = AttacheProcess.Setting(threads: 1, descriptors: 100)
        try AttacheProcess.running(setting: setting) { proxy throws in
            let replies = Replies()
            let everyone = DispatchGroup()
            for _ in 0..<40 {
                DispatchQueue.global().async(group: everyone) {
                    replies.add(try? Self.upload(200_000, to: origin.port, through: proxy))
                }
            }
            #expect(everyone.wait(timeout: .now() + 60) == .success)
            #expect(replies.all == Array(repeating: "got 200000", count: 40))
            #expect(try proxy.get("http://127.0.0.1:\(proxy.adminPort)/healthz").status == 200)
        }
    }

    @Test func `with few descriptors a client that visits many origins is served by each`() throws {
        let origin = try RecordingOrigin.answering()
        let setting = AttacheProcess.Setting(threads: 1, descriptors: 100)
        try AttacheProcess.running(setting: setting) { proxy throws in
            for number in 1...120 {
                let url = "http://host\(number).localhost:\(origin.port)/"
                #expect(try proxy.get(url).status == 200, "origin \(number)")
            }
        }
    }

    private static func upload(_ count: Int, to port: UInt16, through proxy: AttacheProcess) throws -> String {
        let wire = try proxy.connect()
        try wire.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        guard try wire.readResponse(to: "CONNECT").status == 200 else { return "no tunnel" }
        try wire.send([UInt8](repeating: 0x78, count: count))
        wire.finishSending()
        return String(decoding: try wire.readToEnd(), as: UTF8.self)
    }

    private final class Replies: @unchecked Sendable {
        private let lock = NSLock()
        private var replies: [String] = []
        func add(_ reply: String?) { lock.withLock { replies.append(reply ?? "an error") } }
        var all: [String] { lock.withLock { replies } }
    }
}
