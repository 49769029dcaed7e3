import Model

@testable import TLS

extension TrustCase {
    /// Authorities with several certificates for one key. Those that cannot be used stand first, where OpenSSL takes them.
    static let twins: [TrustCase] = [
        TrustCase("an authority signed by an unknown and by a known root, the unknown way first", others: search) {
            twin(signedBy: .root("Unknown"))
        },
        TrustCase("an authority signed by an unknown and by a known root, the unknown root sent", others: search) {
            var scene = twin(signedBy: .root("Unknown"))
            scene.others.append(.root("Unknown"))
            return scene
        },
        TrustCase("a twin that does not permit the name", others: search) {
            twin { $0["nameConstraints"] = "critical,permitted;DNS:other.test" }
        },
        TrustCase("a twin that excludes a name of the wildcard") {
            var scene = twin { $0["nameConstraints"] = "critical,excluded;DNS:www.example.test" }
            let issuing = scene.others[1]
            scene.leaf = .leaf(by: issuing) { $0["subjectAltName"] = "DNS:*.example.test" }
            return scene
        },
        TrustCase("a twin whose path length is too short", others: search) {
            let root = TestCertificate.root()
            let key = TestKey.fresh
            let short = TestCertificate.authority("Policy", by: root) {
                $0.key = key
                $0["basicConstraints"] = "critical,CA:TRUE,pathlen:0"
            }
            let long = TestCertificate.authority("Policy", by: root) { $0.key = key }
            let issuing = TestCertificate.authority(by: long)
            return Scene(leaf: .leaf(by: issuing), others: [issuing, short, long], anchors: [root])
        },
        TrustCase("a twin signed with SHA-1", others: search) { twin { $0.digest = "SHA1" } },
        TrustCase("a twin for clients", others: search) { twin { $0["extendedKeyUsage"] = "clientAuth" } },
        TrustCase("a twin with an unknown critical extension", others: search) {
            twin { $0["1.2.3.4"] = "critical,DER:05:00" }
        },
        TrustCase("a twin whose own issuer has expired", others: search) {
            let old = TestCertificate.root("Old") { $0.ends = -1 }
            return twin(signedBy: old, anchors: [old])
        },
        TrustCase("an authority of the same name with another key first, without its identifier", others: search) {
            let root = TestCertificate.root()
            let stranger = TestCertificate.authority(by: root) { $0["subjectKeyIdentifier"] = nil }
            let issuing = TestCertificate.authority(by: root)
            return Scene(leaf: .leaf(by: issuing), others: [stranger, issuing], anchors: [root])
        },
        TrustCase("an expired anchor that another one vouches for", others: search) {
            bridged { $0.ends = -1 }
        },
        TrustCase("an anchor that does not permit the name, which another one vouches for", others: search) {
            bridged { $0["nameConstraints"] = "critical,permitted;DNS:other.test" }
        },
        TrustCase("an anchor whose path length is too short, which another one vouches for", others: search) {
            bridged { $0["basicConstraints"] = "critical,CA:TRUE,pathlen:0" }
        },
        TrustCase("two anchors for one key, the first one expired", others: search) {
            let key = TestKey.fresh
            let old = TestCertificate.root { recipe in
                recipe.key = key
                recipe["nameConstraints"] = "critical,permitted;DNS:other.test"
            }
            let new = TestCertificate.root { $0.key = key }
            let issuing = TestCertificate.authority(by: new)
            return Scene(leaf: .leaf(by: issuing), others: [issuing], anchors: [old, new])
        },
        TrustCase("twins on two levels, and one good path of four", others: search) {
            let (first, second, known) = (
                TestCertificate.root("First"), TestCertificate.root("Second"), TestCertificate.root("Known")
            )
            let (policyKey, key) = (TestKey.fresh, TestKey.fresh)
            let policies = [first, known].map { root in
                TestCertificate.authority("Policy", by: root) { $0.key = policyKey }
            }
            let issuing = [second, policies[0]].map { by in TestCertificate.authority(by: by) { $0.key = key } }
            return Scene(leaf: .leaf(by: issuing[0]), others: issuing + policies, anchors: [known])
        },
        TrustCase("seven unknown twins before the known one", others: search) { unknown(7) },
        TrustCase("eight unknown twins before the known one", [.incompleteChain]) { unknown(8) },
        TrustCase("thirty unknown twins", [.incompleteChain]) { unknown(30) },
        TrustCase("three authorities, twice each, of which the lowest is good the second time", others: search) {
            twins(levels: 3, bad: 2)
        },
        // The eighth path would do, but they are long ones: no more than four are built.
        TrustCase("ten authorities, twice each, of which the seventh is good the second time", [.nameConstraints]) {
            twins(levels: 10, bad: 6)
        },
        // The path that leads furthest is reported.
        TrustCase("an unknown twin and an expired one", [.expired]) {
            var scene = twin(signedBy: .root("Unknown"))
            scene.others[1] = .authority(by: scene.anchors[0]) {
                $0.key = scene.others[0].key
                $0.ends = -1
            }
            return scene
        },
        TrustCase("an expired anchor and an unknown bridge", [.expired]) {
            var scene = bridged { $0.ends = -1 }
            scene.anchors.removeLast()
            return scene
        },
        TrustCase("two twins, one of them with a problem more", [.nameConstraints]) {
            var scene = twin {
                $0["nameConstraints"] = "critical,permitted;DNS:other.test"
                $0.digest = "SHA1"
            }
            scene.others[1] = .authority(by: scene.anchors[0]) {
                $0.key = scene.others[0].key
                $0["nameConstraints"] = "critical,permitted;DNS:other.test"
            }
            return scene
        },
        TrustCase("an expired server below an unknown twin and a known one", [.expired]) {
            var scene = twin(signedBy: .root("Unknown"))
            scene.leaf = .leaf(by: scene.others[0]) { $0.ends = -1 }
            return scene
        },
        TrustCase("a revoked server below an unknown twin and a known one", [.revoked, .incompleteChain]) {
            var scene = twin(signedBy: .root("Unknown"))
            scene.leaf = .leaf(by: scene.others[0]) { $0.serial = 7 }
            scene.lists = [TestRevocationList.make(by: scene.others[0], revoking: [7])]
            return scene
        },
        TrustCase("a revoked twin is not avoided", [.revoked]) {
            let scene = twin { $0.serial = 7 }
            return Scene(
                leaf: scene.leaf, others: scene.others, anchors: scene.anchors,
                lists: [TestRevocationList.make(by: scene.anchors[0], revoking: [7])])
        },
        TrustCase("a revoked twin is not avoided behind an unknown one", [.revoked]) {
            var scene = twin(signedBy: .root("Unknown"))
            scene.others[1] = .authority(by: scene.anchors[0]) {
                $0.key = scene.others[0].key
                $0.serial = 7
            }
            scene.others.append(
                .authority(by: scene.anchors[0]) {
                    $0.key = scene.others[0].key
                    $0.serial = 8
                })
            scene.lists = [TestRevocationList.make(by: scene.anchors[0], revoking: [7])]
            return scene
        },
        TrustCase("an unknown twin, with a list of the known root that names another", others: search) {
            var scene = twin(signedBy: .root("Unknown"))
            scene.lists = [TestRevocationList.make(by: scene.anchors[0], revoking: [7])]
            return scene
        },
    ]

    private static let search = "RFC 4158 section 2.4.2"

    /// An authority with two certificates for one key: first one that `change` makes unusable, then a good one.
    private static func twin(
        signedBy other: TestCertificate? = nil, anchors: [TestCertificate] = [], _ change: Change = { _ in }
    ) -> Scene {
        let known = TestCertificate.root("Known")
        let key = TestKey.fresh
        let first = TestCertificate.authority(by: other ?? known) {
            $0.key = key
            change(&$0)
        }
        let second = TestCertificate.authority(by: known) {
            $0.key = key
            $0.serial = 2
        }
        return Scene(leaf: .leaf(by: first), others: [first, second], anchors: [known] + anchors)
    }

    /// An anchor that `change` makes unusable, and another one that issued a certificate for its key, which is sent.
    private static func bridged(_ change: Change) -> Scene {
        let key = TestKey.fresh
        let known = TestCertificate.root("Known")
        let old = TestCertificate.root("Old") {
            $0.key = key
            change(&$0)
        }
        let bridge = TestCertificate.authority("Old", by: known) { $0.key = key }
        let issuing = TestCertificate.authority(by: old)
        return Scene(leaf: .leaf(by: issuing), others: [issuing, bridge], anchors: [old, known])
    }

    /// A chain of authorities, each with two certificates for its key. All are good but the first one on a level.
    private static func twins(levels: Int, bad: Int) -> Scene {
        let known = TestCertificate.root("Known")
        var (issuer, others): (TestCertificate, [TestCertificate]) = (known, [])
        for level in 0..<levels {
            let key = TestKey.fresh
            let pair = (1...2).map { number in
                TestCertificate.authority("Level \(level)", by: issuer) {
                    $0.key = key
                    $0.serial = Int64(number)
                    if level == bad, number == 1 { $0["nameConstraints"] = "critical,permitted;DNS:other.test" }
                }
            }
            others += pair
            issuer = pair[1]
        }
        return Scene(leaf: .leaf(by: issuer), others: others, anchors: [known])
    }

    private static func unknown(_ count: Int) -> Scene {
        let key = TestKey.fresh
        let known = TestCertificate.root("Known")
        let others = (0..<count).map { number in
            TestCertificate.authority(by: .root("Unknown \(number)")) { $0.key = key }
        }
        let last = TestCertificate.authority(by: known) { $0.key = key }
        return Scene(leaf: .leaf(by: last), others: others + [last], anchors: [known])
    }
}
