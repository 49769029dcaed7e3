import Bytes
import Testing

@Suite struct IPAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("::1", "::1"),
        ("1::", "1::"), ("2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"),
        ("2001:db8::0:1:0:0:1", "2001:db8::1:0:0:1"), ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("fe80:0:0:1::", "fe80:0:0:1::"),
        ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
        ("64:ff9b::1.2.3.4", "64:ff9b::102:304"), ("0:0:0:0:0:0:0:1", "::1"),
    ])
    func `an address is read and printed as RFC 5952 wants`(text: String, printed: String) {
        #expect(IPAddress(text)?.description == printed)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.", ":", ":::", "1::2::3", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8:", "12345::", "g::", "fe80::1%eth0", "1:2:3:4:5:6:7:1.2.3.4", "[::1]",
        "0x7f.1", "127.1", ":1:2:3:4:5:6:7:8", "1:", "1..2.3", ".1.2.3", ".1.2.3.4", "1.2.3.4.", "00.1.2.3", "1.2.3.4 ",
        "1.2.3.0004", "4294967297.2.3.4", "1.2.3.99999999999999999999", "::1.2.3", "::1.2.3.4.", "a.b.c.d",
    ])
    func `anything else is refused`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `a mapped address is judged as the IPv4 address it is`() {
        #expect(IPAddress("::ffff:127.0.0.1")?.unmapped == IPAddress("127.0.0.1"))
        #expect(IPAddress("::1")?.unmapped == IPAddress("::1"))
        #expect(IPAddress("10.0.0.1")?.bytes == [10, 0, 0, 1])
    }
}
