import Bytes
import IO
import Synchronization
import TestPolicies
import Testing

@testable import Proxy
@testable import Upstream

@Suite struct ClientCountTests {
    private func count(_ clients: Int, perAddress: Int) -> ClientCount {
        ClientCount(ClientCount.Limits(clients: clients, perAddress: perAddress), loops: 2) { _ in }
    }

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test func `one count holds for all loops`() throws {
        let count = count(3, perAddress: 3)
        let client = try address("192.0.2.1")
        for loop in [0, 1, 0] { #expect(count.enter(client, on: loop) == nil) }
        #expect(count.enter(try address("192.0.2.2"), on: 1) == .clients)
        // The loop of a refused client is notified once that there may be room.
        #expect(count.leave(client) == [1])
        #expect(count.leave(client) == [])
        #expect(count.enter(try address("192.0.2.2"), on: 1) == nil)
    }

    @Test func `an address has a limit of its own, and of IPv6 a network of 64 bits`() throws {
        let count = count(10, perAddress: 2)
        for (one, neighbour, stranger) in [
            ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2:0:0:1", "2001:db8:0:1::1"),
        ] {
            #expect(count.enter(try address(one), on: 0) == nil)
            #expect(count.enter(try address(neighbour), on: 0) == nil)
            #expect(count.enter(try address(one), on: 0) == .address)
            #expect(count.enter(try address(stranger), on: 0) == nil)
            _ = count.leave(try address(neighbour))
            #expect(count.enter(try address(one), on: 0) == nil)
        }
    }

    @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
    func `this machine's clients have no limit of their own`(text: String) throws {
        let count = count(5, perAddress: 1)
        for _ in 1...5 { #expect(count.enter(try address(text), on: 0) == nil) }
        #expect(count.enter(try address(text), on: 0) == .clients)
    }

    @Test func `lower limits send nobody away, and higher ones are told to those that wait`() throws {
        let count = count(2, perAddress: 2)
        let client = try address("192.0.2.1")
        for _ in 1...2 { #expect(count.enter(client, on: 0) == nil) }
        _ = count.adopt(ClientCount.Limits(clients: 1, perAddress: 1))
        _ = count.leave(client)
        #expect(count.enter(client, on: 1) == .address)
        #expect(count.adopt(ClientCount.Limits(clients: 3, perAddress: 3)) == [1])
        #expect(count.enter(client, on: 1) == nil)
    }

    @Test func `a quarter of those that are served may come from one address`() throws {
        let budget = DescriptorBudget(available: 100_000, loops: 2, listeners: 1)
        #expect(budget.limits(try policy("limits { clients 40 }").limits).perAddress == 10)
        #expect(budget.limits(try policy("limits { clients 1 }").limits).perAddress == 1)
        #expect(budget.limits(try policy("limits { clients 40; clients-per-address 40 }").limits).perAddress == 40)
        #expect(budget.shortage(of: 40) == nil)
    }

    @Test func `descriptors that the system does not give are clients that are not served`() throws {
        let budget = DescriptorBudget(available: 1024, loops: 2, listeners: 1)
        let limits = budget.limits(try policy("limits { clients 10000 }").limits)
        #expect(limits.clients == budget.clients)
        #expect(limits.clients > 400)
        #expect(budget.reserved + limits.clients * 2 <= 1024)
        let sentence = try #require(budget.shortage(of: 10_000))
        #expect(sentence.contains("limits clients 10000 needs \(budget.reserved + 20_000) descriptors"))
        #expect(sentence.contains("the system allows 1024"))
        #expect(sentence.contains("\(budget.clients) clients are served"))
        // Even with very few descriptors, one client is served.
        #expect(DescriptorBudget(available: 10, loops: 64, listeners: 9).clients == 1)
    }

    @Test func `descriptors that clients do not need are for connections that are kept`() throws {
        let idle = { (available: Int, clients: Int) throws -> Int in
            let budget = DescriptorBudget(available: available, loops: 1, listeners: 1)
            return budget.idle(besides: budget.limits(try policy("limits { clients \(clients) }").limits))
        }
        // Those of a client that visits 10,000 origins in turn.
        #expect(try idle(20_000, 10_000) > 10_100)
        #expect(try idle(20_000, 40) == 16_384)
        #expect(try idle(1_000_000, 40) == 16_384)
        #expect(try idle(1_000_000, 40_000) == 40_000)
        #expect(try idle(1024, 10_000) < 1024 - 1024 / 8)
        #expect(try idle(10, 1) == 1)
    }

    @Test func `a limit that is met again and again is one line`() throws {
        let lines = Lines()
        let report = ClientCount.ShortageReport { lines.add($0) }
        let limits = ClientCount.Limits(clients: 40, perAddress: 10)
        for now in stride(from: 1000, to: 60_000, by: 100) {
            report.note(.clients, of: try address("192.0.2.1"), limits: limits, at: .zero + Milliseconds(now))
        }
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains("the limit of 40 clients is reached") == true)
        report.note(.address, of: try address("192.0.2.7"), limits: limits, at: .zero + 60_000)
        #expect(lines.all.last?.hasPrefix("192.0.2.7 has reached the limit") == true)
        report.note(.clients, of: try address("192.0.2.1"), limits: limits, at: .zero + 61_000)
        #expect(lines.all.last?.contains("590 times") == true)
        #expect(lines.all.count == 3)
    }
}

private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}
