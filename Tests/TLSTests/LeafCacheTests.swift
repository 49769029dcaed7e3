import Bytes
import Synchronization
import Testing

@testable import TLS

/// Collects the work that it gets, and runs it on request.
private final class Later: Sendable {
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    func run(_ body: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(body) } }

    var count: Int { waiting.withLock { $0.count } }

    func runAll() {
        let bodies = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for body in bodies { body() }
    }
}

struct LeafCacheTests {
    private let now = WallTime(seconds: 1_800_000_000)
    private let later = Later()
    private let name = ServerName("a.example")

    private func cache(_ names: [NameConstraint] = [], capacity: Int = 1000) throws -> LeafCache {
        LeafCache(
            authority: try .make(host: "test", names: names, at: now), capacity: capacity)
    }

    @Test func `many who ask at once wait for one minting`() async throws {
        let cache = try cache()
        let leaves = try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { try await cache.leaf(for: name, at: now, running: later.run) }
            }
            while cache.waitingCount(for: name) < 20 { await Task.yield() }
            #expect(later.count == 1)
            later.runAll()
            return try await group.reduce(into: [Identity]()) { $0.append($1) }
        }
        #expect(leaves.count == 20)
        #expect(leaves.allSatisfy { $0 === leaves[0] })
        #expect(try await cache.leaf(for: name, at: now, running: later.run) === leaves[0])
        #expect(later.count == 0)
    }

    @Test func `with 12 hours left the next leaf is minted while this one serves`() async throws {
        let cache = try cache()
        let first = try await cache.leaf(for: name, at: now) { $0() }
        #expect(try await cache.leaf(for: name, at: now + .hours(36) - 1, running: later.run) === first)
        #expect(later.count == 0)
        #expect(try await cache.leaf(for: name, at: now + .hours(36), running: later.run) === first)
        #expect(try await cache.leaf(for: name, at: now + .hours(36), running: later.run) === first)
        #expect(later.count == 1)
        later.runAll()
        let second = try await cache.leaf(for: name, at: now + .hours(36), running: later.run)
        #expect(second !== first)
        #expect(second.leaf.notAfter == now + .hours(84))
        #expect(later.count == 0)
    }

    @Test func `an expired leaf is not served`() async throws {
        let cache = try cache()
        let first = try await cache.leaf(for: name, at: now) { $0() }
        let second = try await cache.leaf(for: name, at: now + .hours(48)) { $0() }
        #expect(second !== first)
        #expect(second.leaf.notAfter == now + .hours(96))
    }

    @Test func `beyond the capacity the one that was used the longest time ago goes`() async throws {
        let cache = try cache(capacity: 2)
        let names = ["a.example", "b.example", "c.example"].map { ServerName($0) }
        let a = try await cache.leaf(for: names[0], at: now) { $0() }
        let b = try await cache.leaf(for: names[1], at: now) { $0() }
        #expect(try await cache.leaf(for: names[0], at: now) { $0() } === a)
        _ = try await cache.leaf(for: names[2], at: now) { $0() }
        #expect(cache.count == 2)
        #expect(try await cache.leaf(for: names[0], at: now) { $0() } === a)
        #expect(try await cache.leaf(for: names[1], at: now) { $0() } !== b)
    }

    @Test func `a failure is told to all who wait and tried again by the next`() async throws {
        let cache = try cache([.domain("corp.example", withItself: true)])
        for _ in 0..<2 {
            await #expect(throws: CertificateAuthority.Failure.outOfBounds(name)) {
                try await cache.leaf(for: name, at: now) { $0() }
            }
        }
        #expect(cache.count == 0)
        #expect(throws: Never.self) { try cache.authority.mint(for: ServerName("corp.example"), at: now) }
    }
}
