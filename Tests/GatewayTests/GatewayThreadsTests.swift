import Bytes
import IO
import Synchronization
import Testing

@testable import Gateway

struct GatewayThreadsTests {
    /// Work that ends when it is released.
    private final class Held: Sendable {
        private let isOver = Atomic(false)
        func end() { isOver.store(true, ordering: .relaxed) }
        func run() { while !isOver.load(ordering: .relaxed) { Pause.take(1) } }
    }

    /// Takes all threads that the address gets, and returns their number.
    private func fill(_ threads: GatewayThreads, from address: IPAddress, _ held: Held) -> Int {
        var count = 0
        while (try? threads.run(for: address) { held.run() }) != nil { count += 1 }
        return count
    }

    @Test func `an address has half of what the others leave, and the last thread is somebody's`() throws {
        let (threads, held) = (GatewayThreads(limit: 16), Held())
        defer { held.end() }
        let addresses = try ["127.0.0.1", "192.0.2.1", "2001:db8::1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map {
            try #require(IPAddress($0))
        }
        #expect(addresses.map { fill(threads, from: $0, held) } == [8, 4, 2, 1, 1, 0])
        #expect(throws: GatewayThreads.Shortage.all) { try threads.run(for: addresses[0]) {} }
    }

    @Test func `one IPv6 network is one address, and who has the share is told so`() throws {
        let (threads, held) = (GatewayThreads(limit: 16), Held())
        defer { held.end() }
        #expect(fill(threads, from: try #require(IPAddress("2001:db8::1")), held) == 8)
        let neighbour = try #require(IPAddress("2001:db8::2:0:0:1"))
        #expect(throws: GatewayThreads.Shortage.address) { try threads.run(for: neighbour) {} }
    }

    @Test func `threads that are free again are given again`() async throws {
        let (threads, first, second) = (GatewayThreads(limit: 4), Held(), Held())
        defer { second.end() }
        let address = try #require(IPAddress("192.0.2.1"))
        #expect(fill(threads, from: address, first) == 2)
        first.end()
        var again = 0
        while again < 2 {
            again += fill(threads, from: address, second)
            await Task.yield()
        }
        #expect(again == 2)
    }
}
