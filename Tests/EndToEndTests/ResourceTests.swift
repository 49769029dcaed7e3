import Foundation
import IO
import TestSupport
import Testing

/// The behaviour when the machine has no more resources.
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

    /// The part of a response for which a client waits long.
    enum LongPart: CaseIterable {
        case head, chunk
    }

    /// The figure for one is 7 to 9 KiB, its connection to the origin included.
    @Test(.disabled(if: Sanitizer.isPresent, "its shadow is not the proxy's memory"), arguments: LongPart.allCases)
    func `a request that waits long for its response holds less than 10 KiB, and gets all of it`(part: LongPart) throws
    {
        let (count, gate) = (150, Gate())
        defer { gate.open() }
        let content = String(repeating: "content ", count: 5000)
        let origin = try RecordingOrigin.answering { request, connection in
            let isHeld = request.target.hasPrefix("/held")
            let text = content + request.target
            if part == .head || !isHeld {
                if isHeld { gate.wait() }
                return try connection.reply(body: text)
            }
            try connection.wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            gate.wait()
            try connection.wire.send("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n0\r\n\r\n")
        }
        func ask(_ path: String, on wire: Wire) throws {
            try wire.send("GET \(origin.url(path)) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
        }
        try AttacheProcess.running(setting: .init(threads: 1, log: "off")) { proxy throws in
            func waiting(_ numbers: Range<Int>) throws -> [Wire] {
                let wires = try numbers.map { number in
                    let wire = try proxy.connect()
                    try ask("/held/\(number)", on: wire)
                    return wire
                }
                #expect(Wait.until { origin.messages.count == numbers.upperBound })
                return wires
            }
            // The first ones pay for what all have together.
            var wires = try waiting(0..<50)
            let before = try proxy.residentKiB()
            wires += try waiting(50..<50 + count)
            var each = Double.infinity
            let isLittle = try Wait.until(seconds: 30) {
                each = Double(try proxy.residentKiB() - before) / Double(count)
                return each < 10
            }
            #expect(isLittle, "\(each) KiB")
            // The second request comes before the first is answered.
            for wire in wires { try ask("/next", on: wire) }
            gate.open()
            for (number, wire) in wires.enumerated() {
                let begin = part == .chunk ? "one" : ""
                #expect(try wire.readResponse().text == begin + content + "/held/\(number)")
                #expect(try wire.readResponse().text == content + "/next")
            }
        }
    }

    @Test func `a server has all of its time for the response`() throws {
        let gate = Gate()
        defer { gate.open() }
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/never" { gate.wait() }
            if request.target == "/late" { _ = Wait.until(seconds: 2.5) { false } }
            try connection.reply(body: request.target)
        }
        try AttacheProcess.running("timeouts { response 4s }") { proxy throws in
            for _ in 1...2 {
                #expect(try proxy.get(origin.url("/late")).text == "/late")
                #expect(try proxy.get(origin.url("/late"), "-d", "content").text == "/late")
            }
            let refused = try proxy.get(origin.url("/never"))
            #expect(refused.status == 504, "\(refused)")
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

    /// A record that waits for the client, and two TLS connections.
    @Test(.disabled(if: Sanitizer.isPresent, "its shadow is not the proxy's memory"))
    func `clients of intercepted tunnels that do not read hold less than 56 KiB each`() throws {
        try Self.visitingByStuckClients { proxy, add throws in
            let before = try proxy.residentKiB()
            for _ in 0..<100 { try add(1) }
            try Self.expect(proxy, toHold: 56, forEachOf: 100, above: before)
        }
    }

    /// The proxy returns to the system what the handshakes needed, which is as much again.
    @Test(.disabled(if: Sanitizer.isPresent, "its shadow is not the proxy's memory"))
    func `clients of intercepted tunnels that come at once and do not read hold less than 72 KiB each`() throws {
        try Self.visitingByStuckClients { proxy, add throws in
            let before = try proxy.residentKiB()
            try add(200)
            try Self.expect(proxy, toHold: 72, forEachOf: 200, above: before)
        }
    }

    /// Calls the body with a function that starts clients at once and returns when each has got the first bytes. They read
    /// no more for as long as the test runs. Twenty are there before: the first ones pay for what all have together.
    private static func visitingByStuckClients(
        _ body: (AttacheProcess, _ add: (Int) throws -> Void) throws -> Void
    ) throws {
        let url = try Zoo.shared().url(Specimen["good"], "/huge")
        try AttacheProcess.visitingZoo(setting: .init(threads: 1, log: "off")) { proxy throws in
            let authority = try proxy.exportedAuthority()
            var clients: [Subprocess] = []
            let add = { (count: Int) throws in
                let folder = Scratch.folder("stuck")
                let options = ["--http1.1", "--cacert", authority, "--limit-rate", "1", "-N", "-o", "\(folder)/#1"]
                let many = ["-Z", "--parallel-immediate", "--parallel-max", "\(count)", "\(url)?[1-\(count)]"]
                clients.append(try Subprocess("curl", ["-q", "-sS", "-x", proxy.address] + options + many))
                let haveBegun = Wait.until {
                    (1...count).allSatisfy { !Scratch.read("\(folder)/\($0)").isEmpty }
                }
                #expect(haveBegun, "\(clients.last?.output ?? "")")
            }
            for _ in 0..<20 { try add(1) }
            try body(proxy, add)
        }
    }

    /// Expects that the proxy's memory comes to rest below the limit: it returns what the handshakes needed within seconds.
    private static func expect(
        _ proxy: AttacheProcess, toHold most: Double, forEachOf count: Int, above before: Int
    ) throws {
        var figures: [Double] = []
        let isLittle = try Wait.until(seconds: 60) {
            figures.append(Double(try proxy.residentKiB() - before) / Double(count))
            let latest = figures.suffix(100)
            let last = latest.last ?? .infinity
            return latest.count == 100 && latest.allSatisfy { abs($0 - last) < 1 && $0 < most }
        }
        #expect(isLittle, "\(figures.suffix(5)) KiB")
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
        // A client that finds no room for a second gets the advice to try again.
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
