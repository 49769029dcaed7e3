import Bytes
import IO
import TestNetwork
import TestPolicies
import Testing

@testable import Proxy
@testable import Upstream

/// The choice of the client's connection that is closed for another client.
struct IdleEvictionTests {
    /// A worker whose clients say nothing.
    private final class Scene {
        private let loop: EventLoop
        private let worker: Worker
        private var clients: [PlayedEnd] = []

        private init(on loop: EventLoop, _ addresses: [String]) throws {
            self.loop = loop
            let count = ClientCount(ClientCount.Limits(clients: 10, perAddress: 10), loops: 1) { _ in }
            worker = Worker(
                policy: try servicePolicy(), shared: sharedState(), on: loop, in: PlayedNetwork(on: loop),
                room: Worker.Room(clients: count, arrivals: 1, idle: 1))
            count.connect([LoopBound(worker, to: loop)])
            let listener = ClientListener(.network(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 3128)))
            for text in addresses {
                let address: IPAddress = try #require(IPAddress(text))
                let (socket, end) = try PlayedEnd.pair(on: loop)
                try #require(count.enter(address, on: 0) == nil)
                worker.begin(socket, from: ClientListener.Peer(address: address), at: listener)
                clients.append(end)
            }
            settle()
        }

        private func settle() {
            repeat { _ = loop.runUntilIdle(within: 20_000) } while clients.count(where: { $0.pump() }) > 0
        }

        /// Closes one connection, unless none may be.
        /// - Returns: the clients whose connections are closed, from 0.
        private func displace(silent isSilent: Bool, in network: String?) -> [Int] {
            _ = worker.displace(silent: isSilent, in: network.flatMap { IPAddress($0) })
            settle()
            return clients.indices.filter { clients[$0].end == .all }
        }

        /// - Parameter networks: for whose clients one connection is to be closed, one after the other; nil: for any.
        /// - Returns: after each, the clients whose connections are closed, from 0.
        static func displacing(
            among addresses: [String], silent isSilent: Bool = true, in networks: [String?]
        ) async throws -> [[Int]] {
            // The thread becomes the loop's, which one that runs tasks cannot be.
            let outcome = await BlockingPool.shared.run {
                Result {
                    let loop = try EventLoop(index: 0, clock: ManualClock(start: 0))
                    return try loop.occupyThread {
                        let scene = try Scene(on: loop, addresses)
                        defer {
                            for client in scene.clients { client.close() }
                            scene.settle()
                        }
                        return networks.map { scene.displace(silent: isSilent, in: $0) }
                    }
                }
            }
            return try outcome.get()
        }
    }

    private static let addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.1"]

    @Test func `for a client of any address the one that has waited longest goes first`() async throws {
        let closed = try await Scene.displacing(among: Self.addresses, in: [nil, nil, nil, nil])
        #expect(closed == [[0], [0, 1], [0, 1, 2], [0, 1, 2]])
        // Those that have made no request are not idle.
        #expect(try await Scene.displacing(among: Self.addresses, silent: false, in: [nil]) == [[]])
    }

    @Test func `for a client of an address with too many, only one of that address goes`() async throws {
        let networks = ["192.0.2.3", "192.0.2.2", "192.0.2.2", "192.0.2.1"]
        let closed = try await Scene.displacing(among: Self.addresses, in: networks)
        #expect(closed == [[], [1], [1], [0, 1]])
    }
}
