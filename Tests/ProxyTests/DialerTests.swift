import Bytes
import DNS
import HTTP
import IO
import Rules
import TestSupport
import Testing
import Transport

@testable import Proxy

struct DialerTests {
    private static func refusal(host: String, port: UInt16, _ policy: Policy) async throws -> (Status, ProxyError)? {
        try await onLoop { loop in
            let dialer = Dialer(resolver: try Resolver(on: loop), policy: policy, loop: loop, wakeup: Wakeup())
            do throws(Refusal) {
                try await dialer.connect(host: host, port: port).close()
                return nil
            } catch { return (error.status, error.error) }
        }
    }

    @Test(arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1", "localhost", "0.0.0.0", "::", "64:ff9b::7f00:1"])
    func `an address that the rules forbid is not dialled, however it is written`(host: String) async throws {
        let found = try await Self.refusal(host: host, port: try closedPort(), try policy(egress: ""))
        #expect(found?.0 == .forbidden)
        #expect(found?.1 == .destinationIPProhibited)
    }

    @Test func `a port on which nothing listens refuses`() async throws {
        let found = try await Self.refusal(host: "127.0.0.1", port: try closedPort(), try policy())
        #expect(found?.0 == .badGateway)
        #expect(found?.1 == .connectionRefused)
    }

    @Test func `a port that listens is reached`() async throws {
        let policy = try policy()
        let isReached = try await onLoop { loop in
            let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { _ in }
            let dialer = Dialer(resolver: try Resolver(on: loop), policy: policy, loop: loop, wakeup: Wakeup())
            let stream = try await dialer.connect(host: "127.0.0.1", port: listener.address.port)
            defer { listener.close() }
            return stream.peerAddress == listener.address
        }
        #expect(isReached)
    }
}
