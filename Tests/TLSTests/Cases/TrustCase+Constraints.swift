import Model

@testable import TLS

extension TrustCase {
    static let constraints: [TrustCase] = [
        TrustCase("a permitted DNS name") { constrained("permitted;DNS:example.test") },
        TrustCase("a DNS name that is not permitted", [.nameConstraints]) { constrained("permitted;DNS:other.test") },
        TrustCase("one of two DNS names is not permitted", [.nameConstraints]) {
            constrained("permitted;DNS:example.test", "DNS:www.example.test,DNS:www.other.test")
        },
        TrustCase("a permitted DNS name with a dot before it") { constrained("permitted;DNS:.example.test") },
        TrustCase("a permitted DNS name with a dot before it does not permit the domain", [.nameConstraints]) {
            constrained("permitted;DNS:.www.example.test")
        },
        TrustCase("a name that ends like the permitted one", [.nameConstraints]) {
            constrained("permitted;DNS:ample.test")
        },
        TrustCase("an excluded DNS name", [.nameConstraints]) { constrained("excluded;DNS:example.test") },
        TrustCase("another excluded DNS name") { constrained("excluded;DNS:other.test") },
        TrustCase("permitted and then excluded", [.nameConstraints]) {
            constrained("permitted;DNS:example.test,excluded;DNS:www.example.test")
        },
        TrustCase("a permitted wildcard") { constrained("permitted;DNS:example.test", "DNS:*.example.test") },
        TrustCase("a wildcard wider than what is permitted", [.nameConstraints]) {
            constrained("permitted;DNS:www.example.test", "DNS:*.example.test")
        },
        TrustCase(
            "a wildcard that stands for an excluded name", [.nameConstraints], stricter: "RFC 5280 section 4.2.1.10"
        ) { constrained("excluded;DNS:www.example.test", "DNS:*.example.test") },
        TrustCase("a wildcard beside an excluded name") {
            constrained("excluded;DNS:mail.example.test", "DNS:*.example.test")
        },
        TrustCase("a permitted IPv4 network") {
            constrained("permitted;IP:192.0.2.0/255.255.255.0", "IP:192.0.2.7", name: "192.0.2.7")
        },
        TrustCase("an IPv4 address outside the permitted network", [.nameConstraints]) {
            constrained("permitted;IP:192.0.2.0/255.255.255.0", "IP:198.51.100.7", name: "198.51.100.7")
        },
        TrustCase("an excluded IPv4 network", [.nameConstraints]) {
            constrained("excluded;IP:192.0.2.0/255.255.255.0", "IP:192.0.2.7", name: "192.0.2.7")
        },
        TrustCase("a permitted IPv6 network") {
            constrained("permitted;IP:2001:db8::/ffff:ffff::", "IP:2001:db8::7", name: "2001:db8::7")
        },
        TrustCase("an IPv6 address where IPv4 is permitted", [.nameConstraints]) {
            constrained("permitted;IP:192.0.2.0/255.255.255.0", "IP:2001:db8::7", name: "2001:db8::7")
        },
        TrustCase("an address where only DNS names are constrained") {
            constrained("permitted;DNS:other.test", "IP:192.0.2.7", name: "192.0.2.7")
        },
        TrustCase("a DNS name where only addresses are constrained") {
            constrained("permitted;IP:192.0.2.0/255.255.255.0")
        },
        TrustCase("a network of five bytes", [.nameConstraints]) {
            constrained("DER:30:0b:a0:09:30:07:87:05:c0:00:02:00:ff", "IP:192.0.2.7", name: "192.0.2.7")
        },
        TrustCase("a permitted e-mail domain") {
            constrained("permitted;email:example.test", "DNS:www.example.test,email:a@example.test")
        },
        TrustCase("an e-mail address that is not permitted", [.nameConstraints]) {
            constrained("permitted;email:example.test", "DNS:www.example.test,email:a@other.test")
        },
        TrustCase("an excluded e-mail address", [.nameConstraints]) {
            constrained("excluded;email:a@example.test", "DNS:www.example.test,email:a@example.test")
        },
        TrustCase("a URI that is not permitted", [.nameConstraints]) {
            constrained("permitted;URI:example.test", "DNS:www.example.test,URI:https://www.other.test/")
        },
        TrustCase("an excluded URI", [.nameConstraints]) {
            constrained("excluded;URI:.example.test", "DNS:www.example.test,URI:https://www.example.test/")
        },
        TrustCase("a permitted directory name") {
            constrained("permitted;dirName:one|one|O=Test", subject: "O=Test,CN=leaf")
        },
        TrustCase("a directory name that is not permitted", [.nameConstraints]) {
            constrained("permitted;dirName:one|one|O=Test", subject: "O=Elsewhere,CN=leaf")
        },
        TrustCase("an excluded directory name", [.nameConstraints]) {
            constrained("excluded;dirName:one|one|O=Test", subject: "O=Test,CN=leaf")
        },
        TrustCase("a common name that looks like a host and is not permitted", [.nameConstraints, .wrongName]) {
            constrained("permitted;DNS:example.test", nil, subject: "CN=www.other.test", name: "www.other.test")
        },
        TrustCase("a common name that does not look like a host", [.wrongName]) {
            constrained("permitted;DNS:example.test", nil, subject: "CN=a server of ours")
        },
        TrustCase("a kind of name that nothing can compare", [.nameConstraints]) {
            constrained("permitted;otherName:1.2.3.4;UTF8:a", "DNS:www.example.test,otherName:1.2.3.4;UTF8:b")
        },
        TrustCase("the anchor constrains", [.nameConstraints]) {
            chain(root: { $0["nameConstraints"] = "critical,permitted;DNS:other.test" })
        },
        TrustCase("a second authority narrows", [.nameConstraints]) {
            let root = TestCertificate.root { $0["nameConstraints"] = "critical,permitted;DNS:test" }
            let policy = TestCertificate.authority("Policy", by: root) {
                $0["nameConstraints"] = "critical,permitted;DNS:other.test"
            }
            let issuing = TestCertificate.authority(by: policy)
            return Scene(leaf: .leaf(by: issuing), others: [policy, issuing], anchors: [root])
        },
        TrustCase("constraints that are not critical", [.nameConstraints]) {
            chain(authority: { $0["nameConstraints"] = "permitted;DNS:other.test" })
        },
        TrustCase("constraints that cannot be read", [.invalid, .incompleteChain]) {
            chain(authority: { $0["nameConstraints"] = "critical,DER:04:01:00" })
        },
    ]

    private static func constrained(
        _ constraints: String, _ names: String? = "DNS:www.example.test", subject: String = "CN=leaf",
        name: String = "www.example.test"
    ) -> Scene {
        chain(
            authority: { $0["nameConstraints"] = "critical,\(constraints)" },
            leaf: {
                $0.subject = subject
                $0["subjectAltName"] = names
            }, name: name)
    }
}
