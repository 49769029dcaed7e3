import Foundation
import IO
import TestSupport
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
            #expect(try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/healthz").status == 200)
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

    /// The figure for one is some 1.2 KiB, of which the bytes that were sent are a half.
    @Test(.disabled(if: Sanitizer.isPresent, "its shadow is not the proxy's memory"))
    func `a client that sends its head slowly holds less than 8 KiB`() throws {
        let count = min(2000, Descriptors.raiseLimit() / 4 - 200)
        try AttacheProcess.running("timeouts { head 60s }", setting: .init(threads: 1)) { proxy throws in
            // The first ones pay for what all have together.
            var wires = try Self.halfHeads(100, at: proxy)
            let before = try proxy.residentKiB()
            wires += try Self.halfHeads(count, at: proxy)
            let each = Double(try proxy.residentKiB() - before) / Double(count)
            #expect(each < 8, "\(each) KiB")
            for wire in wires.suffix(3) {
                try wire.send("\r\n\r\n")
                #expect(try wire.readResponse().status == 502)
            }
        }
    }

    @Test(.disabled(if: Sanitizer.isPresent, "its shadow is not the proxy's memory"))
    func `clients whose heads are late are all told so at once, and hold no more`() throws {
        let count = min(1000, Descriptors.raiseLimit() / 4 - 200)
        try AttacheProcess.running("timeouts { head 2s }", setting: .init(threads: 1)) { proxy throws in
            _ = try Self.halfHeads(100, at: proxy).map { try $0.readResponse() }
            let before = try proxy.residentKiB()
            for wire in try Self.halfHeads(count, at: proxy) { #expect(try wire.readResponse().status == 408) }
            let each = Double(try proxy.residentKiB("VmHWM:") - before) / Double(count)
            #expect(each < 8, "\(each) KiB")
        }
    }

    /// Connections whose beginning the proxy has read: it takes them in their order, and the last is answered.
    private static func halfHeads(_ count: Int, at proxy: AttacheProcess) throws -> [Wire] {
        let agent = String(repeating: "x", count: 200)
        let wires = try (0..<count).map { _ in
            let wire = try proxy.connect()
            try wire.send("GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\nUser-Agent: \(agent)")
            return wire
        }
        #expect(try proxy.exchange("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 400)
        return wires
    }

    /// A record that waits for the client, and two TLS connections. Each client comes when the one before has its connection:
    /// what they need at once for their handshakes would count otherwise.
    @Test(.disabled(if: Sanitizer.isPresent, "its shadow is not the proxy's memory"))
    func `a client of an intercepted tunnel that does not read holds less than 72 KiB`() throws {
        let url = try Zoo.shared().url(Specimen["good"], "/huge")
        try AttacheProcess.visitingZoo(setting: .init(threads: 1, log: "off")) { proxy throws in
            let authority = try proxy.exportedAuthority()
            var clients: [Subprocess] = []
            // Reads a few bytes and then waits for as long as the test runs.
            let add = { (count: Int) throws in
                for _ in 0..<count {
                    let before = Self.sockets(of: proxy)
                    let options = ["--cacert", authority, "--limit-rate", "1", "-o", "/dev/null", url]
                    clients.append(try Subprocess("curl", ["-q", "-sS", "-x", proxy.address] + options))
                    #expect(Wait.until(seconds: 20) { Self.sockets(of: proxy) >= before + 2 })
                }
            }
            // The first ones pay for what all have together.
            try add(20)
            let before = try Self.settledKiB(of: proxy)
            try add(100)
            let each = Double(try Self.settledKiB(of: proxy) - before) / 100
            #expect(each < 72, "\(each) KiB")
        }
    }

    private static func sockets(of proxy: AttacheProcess) -> Int {
        let folder = "/proc/\(proxy.identifier)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?
                .hasPrefix("socket:") == true
        }
    }

    /// Resident memory once it grows no more.
    private static func settledKiB(of proxy: AttacheProcess) throws -> Int {
        var figures: [Int] = []
        let isSettled = try Wait.until(seconds: 60) {
            figures.append(try proxy.residentKiB())
            let latest = figures.suffix(100)
            return latest.count == 100 && latest.allSatisfy { $0 == latest.last }
        }
        #expect(isSettled, "\(figures.suffix(5))")
        return figures.last ?? 0
    }

    @Test func `a low soft limit on descriptors is raised to the hard one`() throws {
        let origin = try RecordingOrigin.answering()
        var setting = AttacheProcess.Setting(descriptors: 32)
        setting.mayRaiseDescriptors = true
        try AttacheProcess.running("limits { clients 50 }", setting: setting) { proxy throws in
            let limits = Scratch.read("/proc/\(proxy.identifier)/limits").split(separator: "\n")
            let words = try #require(limits.first { $0.hasPrefix("Max open files") }).split(separator: " ")
            #expect(words[3] == words[4] && words[3] != "32", "\(words)")
            let silent = try (1...40).map { _ in try proxy.connect() }
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(silent.count == 40 && !proxy.errorOutput.contains("descriptors"), "\(proxy.errorOutput)")
        }
    }

    @Test func `a plain exchange takes two descriptors, and what is kept for later makes room for it`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/held" { gate.wait() }
            try connection.reply(body: "ok")
        }
        let setting = AttacheProcess.Setting(threads: 1, descriptors: 128)
        try AttacheProcess.running(setting: setting) { proxy throws in
            #expect(proxy.awaitErrorOutput("clients are served"), "\(proxy.errorOutput)")
            let said = try #require(proxy.errorOutput.firstMatch(of: /: ([0-9]+) clients are served/))
            let served = try #require(Int(said.1))
            #expect(served > 30, "\(proxy.errorOutput)")
            for number in 1...served {
                #expect(try proxy.get("http://host\(number).localhost:\(origin.port)/").status == 200)
            }
            // All connections go to hosts for which none is kept.
            let wires = try (1...served).map { number in
                let (wire, host) = (try proxy.connect(), "other\(number).localhost:\(origin.port)")
                try wire.send("GET http://\(host)/held HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                return wire
            }
            #expect(Wait.until { origin.messages.filter { $0.target == "/held" }.count == served })
            gate.open()
            for wire in wires { #expect(try wire.readResponse().status == 200) }
        }
    }

    private static func upload(_ count: Int, to port: UInt16, through proxy: AttacheProcess) throws -> String {
        var wire = try proxy.connect()
        // A client that finds no room for a second is told to try again.
        for attempt in 1... {
            try wire.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            let status = try wire.readResponse(to: "CONNECT").status
            if status == 200 { break }
            guard status == 503, attempt < 50 else { return "no tunnel" }
            wire = try proxy.connect()
        }
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
