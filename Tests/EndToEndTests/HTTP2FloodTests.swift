import TestSupport
import Testing

/// Attacks by one client's HTTP/2 connection (RFC 9113 section 10.5). Each is ended by its limit, meanwhile others are
/// served, and its control, which stays below the limit, passes.
@Suite(.serialized) struct HTTP2FloodTests {
    /// KiB that the proxy may hold more during an attack.
    private static let growth = 64 * 1024

    /// The place where a client speaks HTTP/2 with the proxy.
    enum Place: CaseIterable, Sendable {
        case listener, tunnel
    }

    /// Runs a proxy of one loop whose client of HTTP/2 is the body, while others ask.
    /// - Parameter meanwhile: the number of responses that the others get before the body returns.
    private func besieged(
        _ rules: String = "", at place: Place = .listener, meanwhile: Int = 0,
        _ body: (AttacheProcess, TLSDialer, _ head: FieldList) throws -> Void
    ) throws {
        // It is made once: a hundred streams ask for it at the same time.
        let large =
            Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8) + [UInt8](repeating: 108, count: 1_000_000)
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/large" { return try connection.wire.send(large) }
            try connection.reply(body: "ok")
        }
        let terminator = try TLSTerminator(to: origin.port)
        func serve(_ proxy: AttacheProcess, _ dialer: TLSDialer) throws {
            let clients = Clients(4, through: [proxy]) { _, _ in origin.url("/other") }
            #expect(Wait.until { clients.statuses[200] ?? 0 > 50 })
            let before = try proxy.residentKiB()
            clients.mark()
            let (scheme, authority) =
                place == .tunnel ? ("https", terminator.authority) : ("http", "127.0.0.1:\(origin.port)")
            let head = [(":method", "POST"), (":scheme", scheme), (":authority", authority), (":path", "/")]
            let begun = clients.statuses[200] ?? 0
            try body(proxy, dialer, head)
            #expect((clients.statuses[200] ?? 0) - begun >= meanwhile)
            // Each of the others is served, however long the machine of a test makes them all wait.
            #expect(clients.awaitMarked(1) != nil)
            print("the slowest request of another client took \(clients.slowest)")
            let statuses = clients.stop()
            #expect(Set(statuses.keys) == [200], "\(statuses)")
            if !Sanitizer.isPresent {
                let after = try proxy.residentKiB("VmHWM:")
                #expect(after - before < Self.growth, "\(before) KiB before, \(after) KiB at most")
            }
        }
        switch place {
        case .listener: try AttacheProcess.speakingHTTP2(rules, serve)
        case .tunnel: try AttacheProcess.interceptingHTTP2(rules, to: terminator.authority, serve)
        }
    }

    @Test(arguments: Flood.allCases, Place.allCases)
    func `a flood is ended by its limit, and less is served`(flood: Flood, place: Place) throws {
        try besieged(at: place) { proxy, dialer, head throws in
            let control = try FrameClient(by: dialer)
            let (bytes, stream) = flood.control(head)
            try control.send(bytes)
            #expect(try control.answer(on: stream) == .response(status: 200, text: "ok"))
            #expect(try proxy.metric("attache_http2_floods_total") == 0)

            let attacker = try FrameClient(by: dialer)
            if flood.needsStream { try attacker.send(Frame.headers(1, head, ends: false)) }
            _ = attacker.flood(atMost: 5000) { flood.frames($0, head) }
            let code = try attacker.readToEnd()
            // The library's limit, or the proxy's, whichever is reached first.
            #expect(code == nil || code == 11 || flood.isEndedByLibrary && code == 1)
            #expect(try Wait.until(seconds: 30) { try proxy.metric("attache_http2_floods_total") == 1 })
            #expect(
                Wait.until {
                    proxy.errorOutput.contains("the HTTP/2 connection of the client at 127.0.0.1 was closed")
                })
            // The connection of the control was not concerned.
            try control.send(Frame.headers(20_001, head))
            #expect(try control.answer(on: 20_001).status == 200)
        }
    }

    @Test func `streams whose client takes nothing are ended, and then their connection`() throws {
        // Clients that had to wait for the end of the attack would get one response each.
        try besieged("timeouts { idle 5s }", meanwhile: 20) { _, dialer, head throws in
            let large = head.dropLast() + [(":path", "/large")]
            let attackers = try (0..<10).map { _ in try FrameClient(by: dialer, settings: [(4, 0)]) }
            for attacker in attackers {
                for number in 0..<100 { try attacker.send(Frame.headers(UInt32(2 * number + 1), Array(large))) }
            }
            for attacker in attackers {
                #expect(try attacker.readToEnd() == 0)
                let resets = attacker.frames.count { $0.type == 3 }
                #expect(resets == 100)
            }
        }
    }

    @Test func `a stream whose client takes nothing gives way to another`() throws {
        try besieged("limits { streams 10; exchanges 20 }") { _, dialer, head throws in
            let large = head.dropLast() + [(":path", "/large")]
            let attacker = try FrameClient(by: dialer, settings: [(4, 0)])
            // Five sessions serve these, and one of them serves no stream of the next.
            let small = [(":method", "HEAD")] + head.dropFirst()
            try attacker.send((0..<5).flatMap { Frame.headers(UInt32(2 * $0 + 1), Array(small)) })
            for number in 0..<5 { #expect(try attacker.answer(on: UInt32(2 * number + 1)).status == 200) }
            // A quarter of 20 is for one address.
            for number in 5..<9 { try attacker.send(Frame.headers(UInt32(2 * number + 1), Array(large))) }
            while attacker.frames.count(where: { $0.type == 1 }) < 9 { try #require(try attacker.next() != nil) }
            let other = try FrameClient(by: dialer, settings: [(4, 0)])
            try other.send(Frame.headers(1, Array(large)))
            while other.frames.count(where: { $0.type == 1 }) < 1 { try #require(try other.next() != nil) }
            let client = try FrameClient(by: dialer)
            try client.send(Frame.headers(1, head))
            #expect(try client.answer(on: 1) == .reset(code: 7))
            var stream: UInt32 = 1
            // Not so often that the refusals are a flood.
            let isServed = try Wait.until(seconds: 60, every: 200_000) {
                stream += 2
                try client.send(Frame.headers(stream, head))
                return try client.answer(on: stream).status == 200
            }
            #expect(isServed)
            while !attacker.frames.contains(where: { $0.type == 3 }) { try #require(try attacker.next() != nil) }
            #expect(attacker.frames.first { $0.type == 3 }?.code == 8)
        }
    }

    @Test func `a head that does not end, and a client that says nothing, are ended`() throws {
        try besieged("timeouts { head 1s }") { _, dialer, head throws in
            let attacker = try FrameClient(by: dialer)
            try attacker.send(Frame.bytes(1, 1, 1, Frame.block(head)))
            #expect(try attacker.answer(on: 1).isEnded)
            #expect(try FrameClient(by: dialer).readToEnd() == 0)
        }
    }

    @Test func `a request that comes with the preface may take longer than its head`() throws {
        let gate = Gate()
        defer { gate.open() }
        let origin = try RecordingOrigin.answering { _, connection in
            gate.wait()
            try connection.reply(body: "ok")
        }
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let rules = "listen 127.0.0.1:\(port) h2c\ntimeouts { head 1s }"
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { _ throws in
            let head = SmugglingCase.Origin(scheme: "http", authority: "127.0.0.1:\(origin.port)").head()
            let client = try FrameClient(to: port, first: Frame.headers(1, head))
            #expect(Wait.until { origin.messages.count == 1 })
            // Others come later, and say nothing until their time is over.
            for _ in 1...2 { #expect(try FrameClient(to: port).readToEnd() == 0) }
            gate.open()
            #expect(try client.answer(on: 1) == .response(status: 200, text: "ok"))
        }
    }

    @Test func `a connection that does not begin with the preface is ended`() throws {
        try besieged { _, dialer, _ throws in
            let wire = try Wire(to: dialer.port)
            try wire.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try wire.readToEnd()
        }
    }
}
