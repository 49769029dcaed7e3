import Bytes
import IO
import Rules
import TestPolicies
import Testing

@testable import Proxy
@testable import Upstream

@Suite struct ClientRequestsTests {
    typealias Client = ClientRequests.Client

    private let requests = ClientRequests { _, _, _ in }

    /// The limits of the rule file.
    private func limits(_ text: String) throws -> Policy.Limits { try policy("limits { \(text) }").limits }

    private func network(_ text: String) throws -> Client { .network(try #require(IPAddress(text))) }

    /// Makes requests until one is refused, 1,000 at most.
    private func served(_ client: Client, _ limits: Policy.Limits, at now: LoopInstant) -> Int {
        (0..<1000).first { _ in requests.enter(client, limits.requestsPerClient, nil, at: now) != nil } ?? 1000
    }

    @Test func `a client has its burst at once, then its rate, and never more than its burst`() throws {
        let limits = try limits("requests-per-client 10/s burst 30")
        let client = try network("192.0.2.1")
        let start = LoopInstant.zero + 5_000
        #expect(served(client, limits, at: start) == 30)
        #expect(served(client, limits, at: start + 99) == 0)
        #expect(served(client, limits, at: start + 100) == 1)
        #expect(served(client, limits, at: start + 1_100) == 10)
        #expect(served(client, limits, at: start + 3_600_000) == 30)
    }

    @Test(arguments: [("5/s", 1), ("6/m", 10), ("1/h", 3600)])
    func `the wait is that of one request, in whole seconds`(rate: String, seconds: Int) throws {
        let rate = try #require(try limits("requests-per-client \(rate) burst 2").requestsPerClient)
        let client = try network("192.0.2.1")
        let now = LoopInstant.zero + 5_000
        for _ in 1...2 { #expect(requests.enter(client, rate, nil, at: now) == nil) }
        #expect(requests.enter(client, rate, nil, at: now) == .rate(rate, wait: .seconds(seconds)))
        #expect(requests.enter(client, rate, nil, at: now + Milliseconds(seconds * 1000)) == nil)
    }

    @Test func `a refused request takes nothing from the rate`() throws {
        let limits = try limits("requests-per-client 1/s")
        let client = try network("192.0.2.1")
        let now = LoopInstant.zero + 5_000
        #expect(served(client, limits, at: now) == 1)
        for _ in 1...100 { #expect(served(client, limits, at: now + 500) == 0) }
        #expect(served(client, limits, at: now + 1_000) == 1)
    }

    @Test func `a user is one client at all addresses, and an address without a user is one, of IPv6 a network`() throws
    {
        let address = { (text: String) in try #require(IPAddress(text)) }
        let bob = Client(user: "bob", at: try address("192.0.2.1"))
        #expect(bob == Client(user: "bob", at: try address("2001:db8::1")))
        #expect(bob != Client(user: "eve", at: try address("192.0.2.1")))
        #expect(bob != Client(user: nil, at: try address("192.0.2.1")))
        // Unicode calls both names equivalent.
        #expect(Client(user: "\u{E9}", at: try address("::1")) != Client(user: "e\u{301}", at: try address("::1")))
        let longName = String(repeating: "b", count: 5_000)
        #expect(
            Client(user: longName + "1", at: try address("::1")) != Client(user: longName + "2", at: try address("::1"))
        )
        for (one, same, other) in [
            ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2:0:0:1", "2001:db8:0:1::1"),
            ("127.0.0.1", "127.3.2.1", "192.0.2.1"), ("127.0.0.1", "::1", "2001:db8::1"),
        ] {
            let client = Client(user: nil, at: try address(one))
            #expect(client == Client(user: nil, at: try address(same)))
            #expect(client != Client(user: nil, at: try address(other)))
        }
    }

    @Test func `one client's requests take nothing from another's`() throws {
        let limits = try limits("requests-per-client 10/s; concurrent-requests-per-client 2")
        let (greedy, other) = (try network("192.0.2.1"), try network("192.0.2.2"))
        let now = LoopInstant.zero + 5_000
        #expect(served(greedy, limits, at: now) == 10)
        #expect(served(other, limits, at: now) == 10)
        for client in [greedy, other] {
            for _ in 1...2 { #expect(requests.enter(client, nil, 2, at: now) == nil) }
            #expect(requests.enter(client, nil, 2, at: now) == .concurrent(limit: 2))
        }
        requests.leave(other)
        #expect(requests.enter(greedy, nil, 2, at: now) == .concurrent(limit: 2))
        #expect(requests.enter(other, nil, 2, at: now) == nil)
    }

    @Test func `a request that is one too many at once takes nothing from the rate`() throws {
        let rate = try limits("requests-per-client 2/h").requestsPerClient
        let client = try network("192.0.2.1")
        let now = LoopInstant.zero + 5_000
        #expect(requests.enter(client, rate, 1, at: now) == nil)
        for _ in 1...9 { #expect(requests.enter(client, rate, 1, at: now) == .concurrent(limit: 1)) }
        requests.leave(client)
        #expect(requests.enter(client, rate, 1, at: now) == nil)
    }

    @Test func `a place is left when it is released`() throws {
        let client = try network("192.0.2.1")
        let now = LoopInstant.zero + 5_000
        for _ in 1...3 {
            #expect(requests.enter(client, nil, 1, at: now) == nil)
            _ = ClientRequests.Place(of: client, in: requests)
        }
        #expect(requests.remembered.running == 0)
        // Nothing goes below zero.
        requests.leave(client)
        #expect(requests.enter(client, nil, 1, at: now) == nil)
        #expect(requests.enter(client, nil, 1, at: now) != nil)
    }

    @Test func `another rate counts from its beginning`() throws {
        let client = try network("192.0.2.1")
        let now = LoopInstant.zero + 5_000
        #expect(served(client, try limits("requests-per-client 1/h burst 900"), at: now) == 900)
        #expect(served(client, try limits("requests-per-client 1/s"), at: now) == 1)
        #expect(served(client, try limits("requests-per-client 1/s"), at: now + 1_000) == 1)
    }

    @Test func `of very many clients the one that was away longest is forgotten`() throws {
        let limits = try limits("requests-per-client 1/h; concurrent-requests-per-client 1")
        let now = LoopInstant.zero + 5_000
        let clients = (1...UInt64(ClientRequests.mostClients) * 2).map { Client.network(IPAddress(v6High: $0, low: 0)) }
        for client in clients { #expect(requests.enter(client, limits.requestsPerClient, 1, at: now) == nil) }
        #expect(requests.remembered.rates == ClientRequests.mostClients)
        // Its requests in progress are not forgotten: there are as many as connections.
        for client in clients {
            #expect(requests.enter(client, nil, 1, at: now) != nil)
            requests.leave(client)
        }
        #expect(requests.remembered.running == 0)
        let (first, last) = (try #require(clients.first), try #require(clients.last))
        #expect(requests.enter(last, limits.requestsPerClient, nil, at: now) != nil)
        #expect(requests.enter(first, limits.requestsPerClient, nil, at: now) == nil)
    }

    @Test(arguments: ["1000000/s burst 1000000", "1/h burst 1000000", "1000000/h burst 1"])
    func `the largest limits overflow nothing`(text: String) throws {
        let rate = try #require(try limits("requests-per-client \(text)").requestsPerClient)
        let client = try network("192.0.2.1")
        let later: [LoopInstant] = [.zero + 5_000, .zero + Milliseconds(1 << 40)]
        for now in [.zero] + later {
            for _ in 1...2000 { _ = requests.enter(client, rate, nil, at: now) }
        }
    }
}
