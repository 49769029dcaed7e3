import Model

@testable import TLS

extension TrustCase {
    static let revocation: [TrustCase] = [
        TrustCase("a list that does not name the server") { listed { [TestRevocationList.make(by: $0)] } },
        TrustCase("a list that names the server", [.revoked]) {
            listed { [TestRevocationList.make(by: $0, revoking: [7], reason: 1)] }
        },
        TrustCase("a list that names another") { listed { [TestRevocationList.make(by: $0, revoking: [8])] } },
        TrustCase("the root's list names the authority", [.revoked]) {
            var scene = chain(authority: { $0.serial = 5 })
            scene.lists = [TestRevocationList.make(by: scene.anchors[0], revoking: [5])]
            return scene
        },
        TrustCase("the root's list names a server's number") {
            var scene = chain(authority: { $0.serial = 5 }, leaf: { $0.serial = 7 })
            scene.lists = [TestRevocationList.make(by: scene.anchors[0], revoking: [7])]
            return scene
        },
        TrustCase("a list of another authority") {
            listed { _ in [TestRevocationList.make(by: .root("Other"), revoking: [7])] }
        },
        TrustCase("a list that has ended", [.revoked]) {
            listed { [TestRevocationList.make(by: $0, from: -9, until: -2)] }
        },
        TrustCase("a list of the future", [.revoked]) { listed { [TestRevocationList.make(by: $0, from: 1)] } },
        TrustCase("a list that another key signed", [.revoked]) {
            listed { [TestRevocationList.make(by: $0, signedBy: .fresh)] }
        },
        TrustCase("a list by an authority that may not sign lists", [.revoked]) {
            listed(authority: { $0["keyUsage"] = "critical,keyCertSign" }) { [TestRevocationList.make(by: $0)] }
        },
        TrustCase("an old list that does not name the server and a new one that does", [.revoked]) {
            listed {
                [
                    TestRevocationList.make(by: $0, from: -9, until: -2),
                    TestRevocationList.make(by: $0, revoking: [7]),
                ]
            }
        },
        TrustCase("an old list beside a new one, neither names the server") {
            listed { [TestRevocationList.make(by: $0, from: -9, until: -2), TestRevocationList.make(by: $0)] }
        },
        TrustCase("a list of servers that names the server", [.revoked]) {
            listed { [TestRevocationList.make(by: $0, revoking: [7], distributionPoint: "only|onlyuser=TRUE")] }
        },
        TrustCase("a list of servers that does not name the server") {
            listed { [TestRevocationList.make(by: $0, distributionPoint: "only|onlyuser=TRUE")] }
        },
        TrustCase("a list of authorities says nothing of a server") {
            listed { [TestRevocationList.make(by: $0, revoking: [8], distributionPoint: "only|onlyCA=TRUE")] }
        },
        TrustCase("a list of the server's distribution point", [.revoked]) {
            listed(leaf: { $0["crlDistributionPoints"] = "URI:http://lists.example.test/1.crl" }) {
                [
                    TestRevocationList.make(
                        by: $0, revoking: [7], distributionPoint: "point|fullname=URI:http://lists.example.test/1.crl")
                ]
            }
        },
        TrustCase("a list of another distribution point") {
            listed(leaf: { $0["crlDistributionPoints"] = "URI:http://lists.example.test/1.crl" }) {
                [
                    TestRevocationList.make(
                        by: $0, revoking: [8], distributionPoint: "point|fullname=URI:http://lists.example.test/2.crl")
                ]
            }
        },
        TrustCase("a delta list beside its base, which names the server", [.revoked]) {
            listed {
                [
                    TestRevocationList.make(by: $0, revoking: [7], from: -3),
                    TestRevocationList.make(by: $0, revoking: [8], base: 1),
                ]
            }
        },
        TrustCase("a delta list alone that names the server") {
            listed { [TestRevocationList.make(by: $0, revoking: [7], base: 1)] }
        },
        // OpenSSL takes a list that does not name its issuer's key for one of the last certificate that there is.
        TrustCase("a list of a root that is not known", [.incompleteChain]) { unanchored() },
        TrustCase("a list of a root that is not known, which names its key", [.incompleteChain]) {
            unanchored(namesKey: true)
        },
        TrustCase("a list that has ended of a root that is not known", [.incompleteChain]) { unanchored(until: -2) },
        TrustCase("a list of a root that is not known names the authority", [.incompleteChain]) {
            unanchored(revoking: [5])
        },
        TrustCase("a list in PEM", [.revoked]) {
            listed { [TestRevocationList.pem(TestRevocationList.make(by: $0, revoking: [7]))] }
        },
        TrustCase("a listed server below no anchor", [.revoked, .incompleteChain]) {
            var scene = listed { [TestRevocationList.make(by: $0, revoking: [7])] }
            scene.anchors = []
            return scene
        },
    ]

    /// The root that has issued a list about the CA is missing.
    private static func unanchored(revoking: [Int64] = [], until end: Int = 7, namesKey: Bool = false) -> Scene {
        var scene = chain(authority: { $0.serial = 5 })
        scene.lists = [
            TestRevocationList.make(
                by: scene.anchors[0], revoking: revoking, from: -9, until: end, namesKey: namesKey)
        ]
        scene.anchors = []
        return scene
    }

    static func listed(
        authority: Change = { _ in }, leaf: Change = { _ in }, _ lists: (TestCertificate) -> [[UInt8]]
    ) -> Scene {
        var scene = chain(
            authority: authority,
            leaf: {
                $0.serial = 7
                leaf(&$0)
            })
        scene.lists = lists(scene.others[0])
        return scene
    }
}
