import TestSupport
import Testing

/// Requests of HTTP/2 that want to be two at an origin of HTTP/1.1: each is refused, or has exactly one reading there. No
/// other stream of its connection is harmed.
struct HTTP2SmugglingTests {
    @Test func `no request of HTTP/2 has two readings at an origin of HTTP/1.1`() throws {
        let witness = try Witness()
        let origin = SmugglingCase.Origin(scheme: "http", authority: "127.0.0.1:\(witness.port)")
        try judge(SmugglingCase.all(of: origin), at: witness, of: origin) { cases throws in
            try AttacheProcess.speakingHTTP2 { _, dialer throws in try cases(dialer) }
        }
    }

    @Test func `none in an intercepted tunnel, either`() throws {
        let witness = try Witness()
        let terminator = try TLSTerminator(to: witness.port)
        let origin = SmugglingCase.Origin(scheme: "https", authority: terminator.authority)
        try judge(SmugglingCase.all(of: origin), at: witness, of: origin) { cases throws in
            try AttacheProcess.interceptingHTTP2(to: terminator.authority) { _, dialer throws in try cases(dialer) }
        }
    }

    /// Plays all cases by the dialer that the body passes, and judges by the bytes that the origin has got.
    private func judge(
        _ cases: [SmugglingCase], at witness: Witness, of origin: SmugglingCase.Origin,
        _ body: (_ cases: (TLSDialer) throws -> Void) throws -> Void
    ) throws {
        #expect(cases.count >= 120)
        try body { dialer throws in
            for (number, one) in cases.enumerated() { try play(one, number, origin, dialer) }
        }
        var found: [String: [Witness.Request]] = [:]
        for bytes in witness.raw {
            let strict = Witness.Reading(bytes, isLax: false)
            let lax = Witness.Reading(bytes, isLax: true)
            #expect(strict.fault == nil)
            #expect(lax.fault == nil)
            #expect(strict.requests == lax.requests)
            for request in strict.requests {
                found[request.value("x-case") ?? request.line, default: []].append(request)
            }
        }
        for (number, one) in cases.enumerated() {
            let seen = found.removeValue(forKey: "\(number)") ?? []
            switch one.expectation {
            case .refused: #expect(seen.isEmpty, "\(one.name): \(seen)")
            case .resetWithoutContent: #expect(seen.isEmpty || seen.map(\.body) == [""], "\(one.name): \(seen)")
            case .passes(let body):
                #expect(seen.map(\.body) == [body], "\(one.name): \(seen)")
                #expect(seen.allSatisfy { $0.value("host") == origin.authority }, "\(one.name)")
            }
            for bystander in ["before", "after"] {
                let requests = found.removeValue(forKey: "\(bystander) \(number)") ?? []
                #expect(requests.map(\.body) == [bystander == "before" ? "\(number)" : ""], "\(bystander) \(one.name)")
            }
        }
        #expect(found.isEmpty)
    }

    /// Sends the request between two others on one connection.
    private func play(
        _ one: SmugglingCase, _ number: Int, _ origin: SmugglingCase.Origin, _ dialer: TLSDialer
    ) throws {
        let client = try FrameClient(by: dialer)
        let before = origin.head("POST", "/before") + [("x-case", "before \(number)")]
        try client.send(Frame.headers(1, before, ends: false))
        var frames = Frame.headers(3, one.fields + [("x-case", "\(number)")], ends: one.endsWithHead)
        for (index, text) in one.data.enumerated() {
            frames += Frame.data(3, text, ends: one.trailers.isEmpty && index == one.data.count - 1)
        }
        if !one.trailers.isEmpty { frames += Frame.headers(3, one.trailers) }
        try client.send(frames)
        let answer = try client.answer(on: 3)
        switch (one.expectation, answer) {
        case (.refused, .reset), (.resetWithoutContent, .reset), (.passes, .response(status: 200, _)): break
        case (.refused, .response(let status, _)): #expect((400..<500).contains(status), "\(one.name): \(status)")
        case (.refused, .ended), (.resetWithoutContent, _), (.passes, _): Issue.record("\(one.name): \(answer)")
        }
        try client.send(Frame.data(1, "\(number)", ends: true))
        #expect(try client.answer(on: 1).status == 200, "before \(one.name)")
        try client.send(Frame.headers(5, origin.head() + [("x-case", "after \(number)")]))
        #expect(try client.answer(on: 5).status == 200, "after \(one.name)")
        client.close()
    }
}
