import Testing

@testable import PAC

struct PACPathTests {
    @Test(arguments: [
        ("DIRECT", [PACPath.direct]), ("", [.direct]), (" ; ", [.direct]),
        (
            "PROXY a.example:8080; SOCKS5 b:1080 ;DIRECT",
            [.proxy(.http, host: "a.example", port: 8080), .proxy(.socks5, host: "b", port: 1080), .direct]
        ),
        ("proxy A", [.proxy(.http, host: "a", port: 80)]), ("HTTPS a", [.proxy(.https, host: "a", port: 443)]),
        ("SOCKS a", [.proxy(.socks4, host: "a", port: 1080)]), ("SOCKS4 a:1", [.proxy(.socks4, host: "a", port: 1)]),
        ("PROXY [::1]:3128", [.proxy(.http, host: "::1", port: 3128)]),
        ("PROXY [::1]", [.proxy(.http, host: "::1", port: 80)]),
        ("PROXY 10.0.0.1:3128", [.proxy(.http, host: "10.0.0.1", port: 3128)]),
        ("QUIC a:1; PROXY b:2", [.proxy(.http, host: "b", port: 2)]),
    ])
    func `the ways are those that the script names, in its order`(text: String, ways: [PACPath]) {
        #expect(PACPath.list(text) == ways)
    }

    @Test(arguments: [
        "undefined", "PROXY", "PROXY a:0", "PROXY a:99999", "PROXY a:b", "PROXY a b", "DIRECT x", "PROXY a/b:1",
        "PROXY u@a:1", "PROXY [a]:1", "PROXY :1", "PROXY a:1:2",
    ])
    func `an entry that is not understood is no way, and not the direct one`(text: String) {
        #expect(PACPath.list(text) == [])
    }

    @Test func `of thousands of ways the first are tried`() {
        let ways = PACPath.list((1...5000).map { "PROXY a:\($0)" }.joined(separator: ";"))
        #expect(ways == (1...UInt16(PACPath.limit)).map { .proxy(.http, host: "a", port: $0) })
    }
}
