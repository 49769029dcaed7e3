import Bytes
import Rules
import Testing

@Suite struct EgressTests {
    @Test(arguments: [
        ("93.184.216.34", true), ("10.0.0.1", true), ("2606:2800::1", true), ("fd12::1", true),
        ("127.0.0.1", false), ("127.9.9.9", false), ("::1", false), ("::ffff:127.0.0.1", false),
        ("169.254.169.254", false), ("169.254.1.1", false), ("fe80::1", false), ("224.0.0.1", false),
        ("255.255.255.255", false), ("ff02::1", false), ("0.0.0.0", false), ("0.1.2.3", false), ("::", false),
        ("fd00:ec2::254", false), ("100.100.100.200", false),
        ("64:ff9b::7f00:1", false), ("64:ff9b::a9fe:a9fe", false), ("64:ff9b::5db8:d822", true),
        ("64:ff9b:1::7f00:1", false), ("64:ff9b:1::5db8:d822", true), ("2001:0:4136:e378:8000:63bf:80ff:fffe", false),
        ("2001:0:4136:e378:8000:63bf:a247:27dd", true), ("2002:7f00:1::1", false),
        ("::ffff:0:127.0.0.1", false), ("::ffff:0:93.184.216.34", true), ("2002:5db8:d822::1", true),
        ("::7f00:1", false),
    ])
    func `without a word the inside of the machine and of the cloud is refused`(text: String, expected: Bool) throws {
        let address = try #require(IPAddress(text))
        #expect(try rules("").egress.permits(address, port: 80).isPermitted == expected)
    }

    @Test(arguments: [
        // The design's example, its lines in either order.
        ("deny loopback; allow 127.0.0.1:3127", "127.0.0.1", 3127, true),
        ("deny loopback; allow 127.0.0.1:3127", "127.0.0.1", 80, false),
        ("allow 127.0.0.1:3127; deny loopback", "127.0.0.1", 3127, true),
        // A written entry as narrow lifts what is refused by default; a wider one does not.
        ("allow 127.0.0.0/8", "127.0.0.1", 80, true), ("allow loopback", "::1", 80, true),
        ("allow any", "127.0.0.1", 80, false), ("allow any", "169.254.169.254", 80, false),
        ("allow link-local", "169.254.169.254", 80, false), ("allow metadata", "169.254.169.254", 80, true),
        ("allow private", "fd00:ec2::254", 80, false),
        // A deny line does not switch the default off.
        ("deny private", "127.0.0.1", 80, false), ("deny private", "192.168.1.1", 80, false),
        ("deny private; allow 192.168.0.0/16", "192.168.1.1", 80, true),
        ("allow private; deny 192.168.0.0/16", "192.168.1.1", 80, false),
        ("allow 10.0.0.0/8; deny 10.1.2.3", "10.1.2.3", 80, false),
        ("deny 10.0.0.0/8; allow 10.1.0.0/16; deny 10.1.2.3", "10.1.9.9", 80, true),
        ("deny any; allow 10.20.0.0/16", "10.20.1.1", 80, true),
        ("deny any; allow 10.20.0.0/16", "10.21.1.1", 80, false),
        ("deny any; allow 10.20.0.0/16", "2606:2800::1", 80, false),
        ("deny any:25", "93.184.216.34", 25, false), ("deny any:25", "93.184.216.34", 80, true),
        ("deny 10.0.0.1; allow 10.0.0.1", "10.0.0.1", 80, false),
        ("deny 10.0.0.1; allow 10.0.0.1:80", "10.0.0.1", 80, true),
        ("allow [::1]:80", "::1", 80, true), ("allow [::1]:80", "::1", 81, false),
        ("deny 93.184.216.34", "::ffff:93.184.216.34", 80, false),
        ("deny 93.184.216.34", "64:ff9b::5db8:d822", 80, false),
    ])
    func `the narrowest entry decides`(entries: String, text: String, port: UInt16, expected: Bool) throws {
        let address = try #require(IPAddress(text))
        #expect(try rules("egress { \(entries) }").egress.permits(address, port: port).isPermitted == expected)
    }

    /// Addresses at the borders of every block, and at two ports.
    @Test(arguments: [
        "", "deny any; allow 10.20.0.0/16",
        "deny private; allow 192.168.0.0/16; deny 192.168.7.0/24; allow 192.168.7.9",
        "allow 10.0.0.0/8; deny 10.1.2.3; deny 10.1.0.0/16", "allow any; deny 10.0.0.1; allow 10.0.0.1:80",
        "deny any; allow 127.0.0.1:80 [::1]:80", "deny 10.0.0.0/8; allow 10.0.0.0/8", "deny any; allow any",
        "allow link-local; deny 10.0.0.0/8; allow 10.0.0.0/8:80", "deny any; allow 10.0.0.0/8:80; deny 10.3.0.0/16:80",
    ])
    func `the blocks for a packet filter hold the permitted addresses`(entries: String) throws {
        let rules = try rules("egress { \(entries) }")
        let blocks = EgressPolicy.Blocks(rules.configuration.egress).blocks
        let texts = [
            "1.2.3.4", "10.0.0.1", "10.0.0.2", "10.1.2.3", "10.1.2.4", "10.2.0.1", "10.3.0.1", "10.20.0.1", "10.21.0.1",
            "127.0.0.1", "127.0.0.2", "169.254.1.1", "169.254.169.254", "192.168.6.255", "192.168.7.8", "192.168.7.9",
            "192.168.8.0", "100.100.100.200", "100.100.100.201", "::1", "2606:2800::1", "fd12::1", "fd00:ec2::254",
            "fe80::1", "ff02::1", "0.0.0.0", "255.255.255.255",
        ]
        for text in texts {
            let address = try #require(IPAddress(text))
            for port in [80, 81] as [UInt16] {
                let isHeld = blocks.contains { block in
                    block.port ?? port == port && block.prefix.contains(address)
                        && !block.exceptions.contains { $0.contains(address) }
                }
                let isPermitted = rules.egress.permits(address, port: port).isPermitted
                #expect(isHeld == isPermitted, "\(text) \(port): \(blocks)")
            }
        }
        for block in blocks {
            for inside in block.exceptions { #expect(block.prefix != inside && block.prefix.covers(inside)) }
        }
    }

    @Test(arguments: [
        ("", "127.0.0.1", "127.0.0.1:80"), ("", "::1", "[::1]:80"), ("", "::ffff:127.0.0.1", "127.0.0.1:80"),
        ("", "64:ff9b::7f00:1", "127.0.0.1:80"), ("", "169.254.169.254", "169.254.169.254:80"),
        ("deny any", "10.1.2.3", "10.1.2.3:80"), ("deny 10.1.2.3", "10.1.2.3", "10.1.2.3:80"),
        ("deny any:80", "2606:2800::1", "[2606:2800::1]:80"), ("deny any", "2002:7f00:1::1", "[2002:7f00:1::1]:80"),
        ("allow [2002:7f00:1::1]:80", "2002:7f00:1::1", "127.0.0.1:80"),
    ])
    func `the entry that is named for a refused address allows it`(
        entries: String, text: String, entry: String
    ) throws {
        let address = try #require(IPAddress(text))
        let egress = try rules("egress { \(entries) }").egress
        #expect(!egress.permits(address, port: 80).isPermitted)
        #expect(egress.entry(allowing: address, port: 80) == entry)
        // Of an address in another one, both may be refused.
        let first = try rules("egress { \(entries); allow \(entry) }").egress
        let next = first.entry(allowing: address, port: 80) ?? ""
        let last = try rules("egress { \(entries); allow \(entry) \(next) }").egress
        #expect(last.permits(address, port: 80).isPermitted)
        #expect(!last.permits(address, port: 81).isPermitted || egress.permits(address, port: 81).isPermitted)
    }

    @Test func `an address that is denied by itself with its port is allowed by no entry`() throws {
        let egress = try rules("egress { deny 10.1.2.3:80 }").egress
        #expect(egress.entry(allowing: try #require(IPAddress("10.1.2.3")), port: 80) == nil)
    }

    @Test func `a decision names its reason`() throws {
        let egress = try rules("\n\negress {\n  deny private\n  allow 10.0.0.1:80\n}").egress
        let inside = try #require(IPAddress("10.0.0.1"))
        let local = try #require(IPAddress("127.0.0.1"))
        #expect(egress.permits(inside, port: 80).reason == "allowed by \"10.0.0.1:80\" (proxy.conf:5)")
        #expect(egress.permits(inside, port: 81).reason == "denied by \"private\" (proxy.conf:4)")
        #expect(egress.permits(local, port: 80) == .refusedByDefault(.loopback))
    }

    @Test func `a tunnel goes to 443 unless said otherwise`() throws {
        #expect(try rules("").egress.permitsConnect(port: 443))
        #expect(try !rules("").egress.permitsConnect(port: 22))
        let some = try rules("egress { connect-ports 8443 9000-9002 }").egress
        #expect(
            [443, 8443, 8999, 9000, 9002, 9003].map { some.permitsConnect(port: $0) }
                == [false, true, false, true, true, false])
        #expect(try rules("egress { connect-ports any }").egress.permitsConnect(port: 22))
    }

    @Test func `clients are those of the machine unless said otherwise`() throws {
        let local = try #require(IPAddress("127.0.0.1"))
        let mapped = try #require(IPAddress("::ffff:127.0.0.1"))
        let other = try #require(IPAddress("10.0.0.1"))
        let standard = try rules("").clients
        #expect(standard.permits(local) && standard.permits(mapped) && !standard.permits(other))
        let wide = try rules("clients { allow 10.0.0.0/8 }").clients
        #expect(wide.permits(other) && !wide.permits(local))
    }
}
