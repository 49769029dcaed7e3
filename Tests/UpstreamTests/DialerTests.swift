import Bytes
import DNS
import HTTP
import IO
import Rules
import TestPolicies
import TestSupport
import Testing
import Transport

@testable import Upstream

struct DialerTests {
    private static func refusal(host: String, port: UInt16, _ policy: Policy) async throws -> (Status, ProxyError)? {
        try await onLoop { loop in
            let dialer = Dialer(
                network: SystemNetwork(Resolver(on: loop), on: loop), policy: policy, own: LocalListeners(),
                loop: loop, wakeup: Wakeup())
            do throws(Refusal) {
                try await dialer.connect(host: host, port: port).close()
                return nil
            } catch { return (error.status, error.error) }
        }
    }

    @Test(arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1", "localhost", "0.0.0.0", "::", "64:ff9b::7f00:1"])
    func `an address that the rules forbid is not dialled, however it is written`(host: String) async throws {
        let found = try await Self.refusal(host: host, port: LoopbackPort.take(), try policy(egress: ""))
        #expect(found?.0 == .forbidden)
        #expect(found?.1 == .destinationIPProhibited)
    }

    @Test func `a name that no server answers for is not awaited for a client that has left`() async throws {
        let policy = try policy()
        let server = NameServer { _, _ in .silence }
        let isRefused = try await onLoop { loop in
            let dialer = LoopBound(
                Dialer(
                    network: SystemNetwork(Resolver(on: loop, servers: "127.0.0.1:\(server.port)"), on: loop),
                    policy: policy,
                    own: LocalListeners(), loop: loop, wakeup: Wakeup()),
                to: loop)
            let end = Expectation<Bool>()
            let task = loop.spawn {
                do throws(Refusal) {
                    try await dialer.value.connect(host: "name.test", port: 80).close()
                    end.fulfil(false)
                } catch { end.fulfil(true) }
            }
            await Task.yield()
            task.cancel()
            // The resolver's own limit is 6 s.
            return await end.value(within: 3000) ?? false
        }
        #expect(isRefused)
    }

    @Test func `a port on which nothing listens refuses`() async throws {
        let found = try await Self.refusal(host: "127.0.0.1", port: LoopbackPort.take(), try policy())
        #expect(found?.0 == .badGateway)
        #expect(found?.1 == .connectionRefused)
    }

    @Test(arguments: [2, 5] as [UInt8])
    func `a name server that fails is told as that, and not as a time-out`(code: UInt8) async throws {
        let server = NameServer { _, _ in .code(code) }
        let policy = try policy()
        let refusal = try await onLoop { loop -> (Status, ProxyError, String)? in
            let dialer = Dialer(
                network: SystemNetwork(Resolver(on: loop, servers: "127.0.0.1:\(server.port)"), on: loop),
                policy: policy,
                own: LocalListeners(), loop: loop,
                wakeup: Wakeup())
            do throws(Refusal) {
                try await dialer.connect(host: "origin.test", port: 80).close()
                return nil
            } catch { return (error.status, error.error, error.sentence) }
        }
        #expect(refusal?.0 == .badGateway)
        #expect(refusal?.1 == .dnsError)
        #expect(refusal?.2.contains("origin.test could not be resolved") == true)
    }

    @Test func `the addresses that come late are tried when the first ones fail, if they are permitted`() async throws {
        // Nothing is routed to the first, and the rules forbid the one between.
        let server = NameServer { _, type in
            type == .aaaa
                ? .addresses([[0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]])
                : .held(.addresses([[127, 0, 0, 2], [127, 0, 0, 1]]))
        }
        let policy = try policy(egress: "allow 127.0.0.1 fe80::/16; connect-ports any")
        let peer = try await onLoop { loop in
            let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { _ in }
            let resolver = Resolver(on: loop, servers: "127.0.0.1:\(server.port)")
            let early = try await resolver.resolve("origin.test")
            #expect(early.addresses.map(\.description) == ["fe80::1"])
            let dialer = Dialer(
                network: SystemNetwork(resolver, on: loop), policy: policy, own: LocalListeners(), loop: loop,
                wakeup: Wakeup())
            server.release()
            let stream = try await dialer.connect(host: "origin.test", port: listener.address.port)
            defer { listener.close() }
            return stream.peerAddress?.address.description
        }
        #expect(peer == "127.0.0.1")
    }

    @Test func `a port that listens is reached`() async throws {
        let policy = try policy()
        let isReached = try await onLoop { loop in
            let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { _ in }
            let dialer = Dialer(
                network: SystemNetwork(Resolver(on: loop), on: loop), policy: policy, own: LocalListeners(),
                loop: loop, wakeup: Wakeup())
            let stream = try await dialer.connect(host: "127.0.0.1", port: listener.address.port)
            defer { listener.close() }
            return stream.peerAddress == listener.address
        }
        #expect(isReached)
    }
}
