import TestSupport
import Testing

/// Digest servers whose nonces serve once, or whose counters have no gaps, with many clients that keep their connections.
@Suite(.serialized) struct OneTimeNonceTests {
    @Test(arguments: [
        DigestGuard.Terms(algorithm: "MD5", usesPerNonce: 1), .init(algorithm: "MD5", noncePerChallenge: true),
        .init(algorithm: "MD5", countsStrictly: true), .init(algorithm: "MD5", sendsNextNonce: true),
        .init(algorithm: "MD5", usesPerNonce: 3),
    ])
    func `300 requests of 12 clients, none faster than the next: all are answered`(terms: DigestGuard.Terms) throws {
        let sentry = DigestGuard(terms)
        let origin = try RecordingOrigin.guarded(by: sentry)
        try AttacheProcess.answering(origin.port) { proxy throws in
            let clients = Clients(12, through: [proxy], requests: 25, pause: 0) { origin.url("/\($0)/\($1)") }
            let statuses = clients.finish()
            let refused = proxy.accessLogLines.filter { !$0.contains("\"status\":200") }.joined(separator: "\n")
            #expect(statuses == [200: 300], "\(proxy.errorOutput)\(refused)")
            #expect(sentry.wrong == 0)
            #expect(try proxy.records(atLeast: 300).count == 300)
        }
    }
}
