import Model

@testable import TLS

extension TrustCase {
    static let authorities: [TrustCase] = [
        TrustCase("a root, an authority and a server") { chain() },
        TrustCase("the root was sent as well") {
            var scene = chain()
            scene.others += scene.anchors
            return scene
        },
        TrustCase("a server right below the root") {
            let root = TestCertificate.root()
            return Scene(leaf: .leaf(by: root), anchors: [root])
        },
        TrustCase("a self-signed server", [.selfSigned]) {
            Scene(leaf: .selfSigned(), anchors: [.root()])
        },
        TrustCase("a self-signed server, and no anchor at all", [.selfSigned]) {
            Scene(leaf: .selfSigned(), anchors: [])
        },
        TrustCase("a self-signed server that calls itself an authority", [.selfSigned]) {
            Scene(
                leaf: .selfSigned {
                    $0["basicConstraints"] = "critical,CA:TRUE"
                    $0["keyUsage"] = "critical,digitalSignature,keyCertSign"
                }, anchors: [])
        },
        TrustCase("a self-signed server that is an anchor") {
            let leaf = TestCertificate.selfSigned()
            return Scene(leaf: leaf, anchors: [leaf])
        },
        TrustCase("a self-signed server whose signature is another's", [.selfSigned, .invalid]) {
            Scene(leaf: try TestCertificate.selfSigned().altered { $0[$0.count - 1] ^= 1 }, anchors: [])
        },
        TrustCase("a root that is no anchor, sent", [.unknownIssuer]) {
            var scene = chain()
            scene.others += scene.anchors
            scene.anchors = [.root("Other")]
            return scene
        },
        TrustCase("a root that is no anchor, not sent", [.incompleteChain]) {
            var scene = chain()
            scene.anchors = [.root("Other")]
            return scene
        },
        TrustCase("a root of the same name that is no anchor, sent", [.unknownIssuer]) {
            var scene = chain()
            scene.others += scene.anchors
            scene.anchors = [.root()]
            return scene
        },
        TrustCase("the authority was not sent", [.incompleteChain]) {
            var scene = chain()
            scene.others = []
            return scene
        },
        TrustCase("the authority was not sent, the root was", [.incompleteChain]) {
            var scene = chain()
            scene.others = scene.anchors
            return scene
        },
        TrustCase("the authority is an anchor and the root is not") {
            var scene = chain()
            scene.anchors = scene.others
            scene.others = []
            return scene
        },
        TrustCase("the server's certificate is an anchor and no issuer is known") {
            var scene = chain()
            scene.anchors = [scene.leaf]
            scene.others = []
            return scene
        },
        TrustCase("the authority has no basic constraints", [.wrongUsage, .invalid]) {
            chain(authority: { $0["basicConstraints"] = nil })
        },
        TrustCase("the authority says that it is none", [.wrongUsage, .invalid]) {
            chain(authority: { $0["basicConstraints"] = "critical,CA:FALSE" })
        },
        TrustCase("the authority's basic constraints are not critical", [.invalid]) {
            chain(authority: { $0["basicConstraints"] = "CA:TRUE" })
        },
        TrustCase("the authority's basic constraints cannot be read", [.invalid, .incompleteChain]) {
            chain(authority: { $0["basicConstraints"] = "critical,DER:04:01:00" })
        },
        TrustCase("an authority of version 1", [.wrongUsage, .invalid]) {
            chain(authority: {
                $0.version = 1
                $0.extensions = []
            })
        },
        TrustCase("a server of version 1", [.wrongName]) {
            chain(leaf: {
                $0.version = 1
                $0.extensions = []
            })
        },
        TrustCase("a server of version 1 with extensions", [.invalid]) { chain(leaf: { $0.version = 1 }) },
        TrustCase("the authority has no key usage", [.invalid]) { chain(authority: { $0["keyUsage"] = nil }) },
        TrustCase("the authority may not sign certificates", [.wrongUsage]) {
            chain(authority: { $0["keyUsage"] = "critical,cRLSign,digitalSignature" })
        },
        TrustCase("the root may not sign certificates", [.wrongUsage]) {
            chain(root: { $0["keyUsage"] = "critical,cRLSign" })
        },
        TrustCase("the authority has no key identifier", [.invalid]) {
            let root = TestCertificate.root()
            let issuing = TestCertificate.authority(by: root) { $0["subjectKeyIdentifier"] = nil }
            let leaf = TestCertificate.leaf(by: issuing) { $0["authorityKeyIdentifier"] = nil }
            return Scene(leaf: leaf, others: [issuing], anchors: [root])
        },
        TrustCase("the server has no identifier of its authority's key", [.invalid]) {
            chain(leaf: { $0["authorityKeyIdentifier"] = nil })
        },
        TrustCase("a server that may sign certificates and is no authority", [.invalid]) {
            chain(leaf: { $0["keyUsage"] = "critical,digitalSignature,keyCertSign" })
        },
        TrustCase("a server's certificate issued another one", [.wrongUsage, .invalid]) {
            let root = TestCertificate.root()
            let middle = TestCertificate.leaf(by: root) {
                $0["keyUsage"] = "critical,digitalSignature,keyCertSign"
                $0.subject = "CN=middle"
            }
            return Scene(leaf: .leaf(by: middle), others: [middle], anchors: [root])
        },
        TrustCase("an authority as server") {
            let root = TestCertificate.root()
            let leaf = TestCertificate.authority(by: root) {
                $0["keyUsage"] = "critical,digitalSignature,keyCertSign"
                $0["subjectAltName"] = "DNS:www.example.test"
            }
            return Scene(leaf: leaf, anchors: [root])
        },
        TrustCase("the server's signature does not fit", [.invalid]) {
            var scene = chain()
            scene.leaf = try scene.leaf.altered { $0[$0.count - 1] ^= 1 }
            return scene
        },
        TrustCase("the authority's signature does not fit", [.invalid]) {
            var scene = chain()
            scene.others = [try scene.others[0].altered { $0[$0.count - 1] ^= 1 }]
            return scene
        },
        TrustCase("the anchor's signature does not fit") {
            let root = try TestCertificate.root().altered { $0[$0.count - 1] ^= 1 }
            return Scene(leaf: .leaf(by: root), anchors: [root])
        },
        TrustCase("an authority of the same name with another key", [.incompleteChain]) {
            var scene = chain()
            scene.others = [.authority(by: scene.anchors[0])]
            return scene
        },
        TrustCase("an authority of the same name with another key, without identifiers", [.invalid]) {
            let root = TestCertificate.root()
            let bare: Change = { $0["authorityKeyIdentifier"] = nil }
            let one = TestCertificate.authority(by: root)
            return Scene(leaf: .leaf(by: one, bare), others: [.authority(by: root)], anchors: [root])
        },
    ]
}
