import Testing

@testable import Proxy

@Suite struct ClientNegotiationTests {
    @Test(
        arguments: [
            (10, 1_000, "alice"), (10, 10_999, "alice"), (10, 11_000, nil), (0, 1_000, nil), (nil, .max - 1, "alice"),
        ]
            as [(Int?, UInt64, String?)])
    func `a login holds as long as its ticket`(lifetime: Int?, now: UInt64, user: String?) {
        #expect(ClientNegotiation.established(user: "alice", for: lifetime, at: 1_000).user(at: now) == user)
    }
}
