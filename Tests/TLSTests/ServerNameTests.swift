import Bytes
import Testing

@testable import TLS

@Suite struct ServerNameTests {
    @Test(arguments: [
        ("Example.TEST.", ServerName.host("example.test")), ("example.test", .host("example.test")),
        ("127.0.0.1", .address(IPAddress(v4: 0x7f00_0001))), (".", .host(".")),
    ])
    func `A host becomes a name in lower case without the root's dot, or an address`(host: String, name: ServerName) {
        #expect(ServerName(host) == name)
    }
}
