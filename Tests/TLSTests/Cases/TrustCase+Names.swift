import Model

@testable import TLS

extension TrustCase {
    static let names: [TrustCase] = [
        TrustCase("the name itself") { named("DNS:www.example.test") },
        TrustCase("the name in other case") { named("DNS:WWW.Example.Test") },
        TrustCase("the host in other case with the root's dot") { named("DNS:www.example.test", "WWW.example.TEST.") },
        TrustCase("another name", [.wrongName]) { named("DNS:mail.example.test") },
        TrustCase("the parent's name", [.wrongName]) { named("DNS:example.test") },
        TrustCase("a longer name", [.wrongName]) { named("DNS:a.www.example.test") },
        TrustCase("a name that ends alike", [.wrongName]) { named("DNS:xwww.example.test") },
        TrustCase("the last of many names") {
            named((0..<200).map { "DNS:n\($0).example.test" }.joined(separator: ",") + ",DNS:www.example.test")
        },
        TrustCase("a wildcard for one label") { named("DNS:*.example.test") },
        TrustCase("a wildcard two labels deep", [.wrongName]) { named("DNS:*.example.test", "a.www.example.test") },
        TrustCase("a wildcard for the domain itself", [.wrongName]) { named("DNS:*.example.test", "example.test") },
        TrustCase("a wildcard below a single label", [.wrongName]) { named("DNS:*.test", "example.test") },
        TrustCase("a wildcard alone", [.wrongName]) { named("DNS:*", "localhost") },
        TrustCase("a wildcard as part of a label", [.wrongName], stricter: "RFC 9525 section 6.3") {
            named("DNS:w*.example.test")
        },
        TrustCase("a wildcard at the end of a label", [.wrongName], stricter: "RFC 9525 section 6.3") {
            named("DNS:*w.example.test")
        },
        TrustCase("a wildcard in the second label", [.wrongName]) { named("DNS:www.*.test") },
        TrustCase("two wildcards", [.wrongName]) { named("DNS:*.*.test") },
        TrustCase("a wildcard before an empty label", [.wrongName]) { named("DNS:*..test", "www..test") },
        TrustCase("a wildcard for a label with an underscore", [.wrongName]) {
            named("DNS:*.example.test", "my_host.example.test")
        },
        TrustCase("an underscore in the name itself") { named("DNS:my_host.example.test", "my_host.example.test") },
        TrustCase("an internationalised name as A-labels") {
            named("DNS:xn--bcher-kva.example.test", "xn--bcher-kva.example.test")
        },
        TrustCase("an A-label under a wildcard") { named("DNS:*.example.test", "xn--bcher-kva.example.test") },
        TrustCase("a wildcard inside an A-label", [.wrongName]) {
            named("DNS:xn--*.example.test", "xn--bcher-kva.example.test")
        },
        TrustCase("an internationalised name as it is written", [.wrongName]) {
            named(
                "DER:30:16:82:14:62:c3:bc:63:68:65:72:2e:65:78:61:6d:70:6c:65:2e:74:65:73:74",
                "xn--bcher-kva.example.test")
        },
        TrustCase("a name with a zero in it", [.wrongName]) {
            named("DER:30:13:82:11:77:77:77:2e:61:2e:74:65:73:74:00:2e:65:78:61:6d:70", "www.a.test")
        },
        TrustCase("a name with the root's dot", [.wrongName]) { named("DNS:www.example.test.") },
        TrustCase("an IPv4 address") { named("IP:192.0.2.7", "192.0.2.7") },
        TrustCase("another IPv4 address", [.wrongName]) { named("IP:192.0.2.7", "192.0.2.8") },
        TrustCase("an IPv6 address") { named("IP:2001:db8::7", "2001:db8:0::7") },
        TrustCase("another IPv6 address", [.wrongName]) { named("IP:2001:db8::7", "2001:db8::8") },
        TrustCase("an IPv4 address as the mapped IPv6 one", [.wrongName]) { named("IP:::ffff:192.0.2.7", "192.0.2.7") },
        TrustCase("an address as a DNS name", [.wrongName]) { named("DNS:192.0.2.7", "192.0.2.7") },
        TrustCase("a wildcard for an address", [.wrongName]) { named("DNS:*.0.2.7", "192.0.2.7") },
        TrustCase("an address as the common name", [.wrongName]) {
            named("DNS:www.example.test", subject: "CN=192.0.2.7", "192.0.2.7")
        },
        TrustCase("a host where only addresses are named", [.wrongName]) { named("IP:192.0.2.7") },
        TrustCase("the common name without alternatives", [.wrongName], stricter: "RFC 9525 section 2") {
            named(nil, subject: "CN=www.example.test")
        },
        TrustCase("the common name beside an address", [.wrongName], stricter: "RFC 9525 section 2") {
            named("IP:192.0.2.7", subject: "CN=www.example.test")
        },
        TrustCase("the common name beside an e-mail address", [.wrongName], stricter: "RFC 9525 section 2") {
            named("email:a@example.test", subject: "CN=www.example.test")
        },
        TrustCase("the common name beside another name", [.wrongName]) {
            named("DNS:mail.example.test", subject: "CN=www.example.test")
        },
        TrustCase("the host in a URI", [.wrongName]) { named("URI:https://www.example.test/") },
        TrustCase("an empty subject and critical alternatives") {
            named("critical,DNS:www.example.test", subject: "")
        },
        TrustCase("an empty subject and alternatives that are not critical", [.invalid]) {
            named("DNS:www.example.test", subject: "")
        },
        TrustCase("an empty subject and no alternatives", [.invalid, .wrongName]) { named(nil, subject: "") },
        TrustCase("alternatives without a name", [.invalid, .wrongName]) { named("DER:30:00") },
        TrustCase("alternatives that cannot be read", [.invalid, .wrongName, .incompleteChain]) {
            named("DER:04:03:01:02:03")
        },
    ]
}
