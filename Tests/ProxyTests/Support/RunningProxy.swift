import Bytes
import IO
import TestPolicies
import TestSupport
import Testing

@testable import Proxy

/// A whole proxy on a port of its own, in this process.
struct RunningProxy {
    let server: ProxyServer
    private let address: SocketAddress

    init(_ policy: ServicePolicy) throws {
        let any = SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0)
        server = try ProxyServer(
            threads: 1, listeners: [ClientListener(.network(any))], policy: policy, shared: sharedState())
        address = try #require(server.addresses.first)
        server.start()
    }

    /// Returns the bytes that come back on a new connection until it ends.
    func answer(to request: String) async throws -> String {
        let address = address
        let answer = await BlockingPool.shared.run {
            Result { try BlockingExchange.send(Array(request.utf8), to: address, within: 10_000, limit: 1 << 20) }
        }
        return String(decoding: try answer.get(), as: UTF8.self)
    }
}
