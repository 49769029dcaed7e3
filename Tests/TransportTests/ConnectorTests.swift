import Bytes
import IO
import TestSupport
import Testing

@testable import Transport

@Suite struct ConnectorTests {
    @Test func `families take turns, IPv6 first`() throws {
        let addresses = try ["10.0.0.1", "10.0.0.2", "::1", "10.0.0.3", "::2"].map {
            SocketAddress(try #require(IPAddress($0)), port: 80)
        }
        #expect(
            Connector.interleaved(addresses).map(\.address.description) == [
                "::1", "10.0.0.1", "::2", "10.0.0.2", "10.0.0.3",
            ])
    }

    @Test func `a dead first address does not keep the second from being reached`() async throws {
        let reached = try await onLoop { loop in
            let live = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { _ in }
            let dead = SocketAddress(IPAddress(v4: 0x7F00_0002), port: 1)
            let stream = try await Connector.connect(
                to: [dead, live.address], within: 3000, on: loop, wakeup: Wakeup())
            return stream.peerAddress == live.address
        }
        #expect(reached)
    }

    @Test func `when all fail, the last reason is told`() async throws {
        let message = try await onLoop { loop in
            do {
                let dead = SocketAddress(IPAddress(v4: 0x7F00_0001), port: 1)
                _ = try await Connector.connect(to: [dead], within: 3000, on: loop, wakeup: Wakeup())
                return ""
            } catch { return "\(error)" }
        }
        #expect(message.contains("connection refused"))
    }
}
