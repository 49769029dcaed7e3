import Glibc
import Testing

@testable import PAC

struct PACAddressesTests {
    @Test func `the machine's own addresses are those that others reach, or 127.0.0.1 alone`() {
        let own = PACAddresses.own
        let others = own.all.filter { $0 != "::1" && !$0.hasPrefix("127.") && !$0.hasPrefix("fe80:") }
        #expect(own.all == (others.isEmpty ? ["127.0.0.1"] : others))
        #expect(own.all.contains(own.first) || own.first == "127.0.0.1")
    }

    @Test func `a name has each of its addresses once, and one that is no name has none`() {
        #expect(PACAddresses.resolve("127.0.0.1", family: AF_INET) == ["127.0.0.1"])
        #expect(PACAddresses.resolve("::1", family: AF_UNSPEC) == ["::1"])
        #expect(PACAddresses.resolve("127.0.0.1", family: AF_INET6).isEmpty)
        #expect(PACAddresses.resolve("", family: AF_UNSPEC).isEmpty)
        #expect(PACAddresses.resolve(String(repeating: "a", count: 256), family: AF_UNSPEC).isEmpty)
    }
}
