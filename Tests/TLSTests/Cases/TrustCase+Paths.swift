import Model

@testable import TLS

extension TrustCase {
    static let paths: [TrustCase] = [
        TrustCase("sent in the wrong order") {
            let root = TestCertificate.root()
            let policy = TestCertificate.authority("Policy", by: root)
            let issuing = TestCertificate.authority(by: policy)
            return Scene(leaf: .leaf(by: issuing), others: [root, policy, issuing], anchors: [root])
        },
        TrustCase("surplus certificates were sent") {
            var scene = chain()
            scene.others = [.root("Noise"), .selfSigned(), scene.leaf] + scene.others + [.root(), scene.others[0]]
            return scene
        },
        TrustCase("an authority signed by an unknown and by a known root, the known way first") {
            let (unknown, known) = (TestCertificate.root("Unknown"), TestCertificate.root("Known"))
            let key = TestKey.fresh
            let first = TestCertificate.authority(by: known) { $0.key = key }
            let second = TestCertificate.authority(by: unknown) { $0.key = key }
            return Scene(leaf: .leaf(by: first), others: [first, second, unknown], anchors: [known])
        },
        TrustCase("a new root signed by an old one that is gone") {
            let old = TestCertificate.root("Old")
            let key = TestKey.fresh
            let new = TestCertificate.root("New") { $0.key = key }
            let bridge = TestCertificate.authority("New", by: old) { $0.key = key }
            return Scene(leaf: .leaf(by: new), others: [bridge], anchors: [new])
        },
        TrustCase("a new root signed by an old one that has expired") {
            let old = TestCertificate.root("Old") { $0.ends = -1 }
            let key = TestKey.fresh
            let new = TestCertificate.root("New") { $0.key = key }
            let bridge = TestCertificate.authority("New", by: old) { $0.key = key }
            return Scene(leaf: .leaf(by: new), others: [bridge, old], anchors: [old, new])
        },
        TrustCase("a new root that is no anchor, signed by an old one that is") {
            let old = TestCertificate.root("Old")
            let key = TestKey.fresh
            let new = TestCertificate.root("New") { $0.key = key }
            let bridge = TestCertificate.authority("New", by: old) { $0.key = key }
            return Scene(leaf: .leaf(by: new), others: [bridge], anchors: [old])
        },
        TrustCase("an authority twice, expired and renewed") {
            let root = TestCertificate.root()
            let key = TestKey.fresh
            let old = TestCertificate.authority(by: root) {
                $0.key = key
                $0.ends = -1
            }
            let new = TestCertificate.authority(by: root) { $0.key = key }
            return Scene(leaf: .leaf(by: new), others: [old, new], anchors: [root])
        },
        TrustCase("two authorities that issued each other", [.incompleteChain]) {
            let keys = (TestKey.fresh, TestKey.fresh)
            let first = TestCertificate.root("First") { $0.key = keys.0 }
            let second = TestCertificate.authority("Second", by: first) { $0.key = keys.1 }
            let loop = TestCertificate.authority("First", by: second) { $0.key = keys.0 }
            return Scene(leaf: .leaf(by: second), others: [second, loop], anchors: [.root()])
        },
        TrustCase("a path length that is kept") {
            chain(authority: { $0["basicConstraints"] = "critical,CA:TRUE,pathlen:0" })
        },
        TrustCase("a root's path length that is kept") {
            chain(root: { $0["basicConstraints"] = "critical,CA:TRUE,pathlen:1" })
        },
        TrustCase("an authority below path length 0", [.pathLength]) {
            lengthy("critical,CA:TRUE,pathlen:0", below: 1)
        },
        TrustCase("an authority below path length 1") { lengthy("critical,CA:TRUE,pathlen:1", below: 1) },
        TrustCase("two authorities below path length 1", [.pathLength]) {
            lengthy("critical,CA:TRUE,pathlen:1", below: 2)
        },
        TrustCase("the anchor's path length", [.pathLength]) {
            chain(root: { $0["basicConstraints"] = "critical,CA:TRUE,pathlen:0" })
        },
        TrustCase("a path length that a self-issued authority does not use up") {
            let root = TestCertificate.root { $0["basicConstraints"] = "critical,CA:TRUE,pathlen:1" }
            let renewed = TestCertificate.authority("Root", by: root)
            let issuing = TestCertificate.authority(by: renewed)
            return Scene(leaf: .leaf(by: issuing), others: [renewed, issuing], anchors: [root])
        },
        TrustCase("a path length in a certificate that is no authority", [.invalid]) {
            chain(leaf: { $0["basicConstraints"] = "critical,CA:FALSE,pathlen:0" })
        },
        TrustCase("a negative path length", [.invalid, .incompleteChain]) {
            chain(authority: { $0["basicConstraints"] = "critical,DER:30:06:01:01:ff:02:01:ff" })
        },
        TrustCase("ten authorities") { deep(10) },
        TrustCase("eleven authorities", [.pathLength, .incompleteChain]) { deep(11) },
        TrustCase("thirty authorities", [.pathLength, .incompleteChain]) { deep(30) },
    ]

    private static func lengthy(_ constraints: String, below count: Int) -> Scene {
        let root = TestCertificate.root()
        var others = [TestCertificate.authority("Policy", by: root) { $0["basicConstraints"] = constraints }]
        for number in 0..<count { others.append(.authority("Level \(number)", by: others[number])) }
        return Scene(leaf: .leaf(by: others[count]), others: others, anchors: [root])
    }

    private static func deep(_ count: Int) -> Scene {
        let root = TestCertificate.root()
        var others = [TestCertificate.authority("Level 0", by: root)]
        for number in 1..<count { others.append(.authority("Level \(number)", by: others[number - 1])) }
        return Scene(leaf: .leaf(by: others[count - 1]), others: others, anchors: [root])
    }
}
