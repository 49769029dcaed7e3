import Model

@testable import TLS

extension TrustCase {
    static let several: [TrustCase] = [
        TrustCase("self-signed, expired, weak and for another name", [.selfSigned, .expired, .weakKey, .wrongName]) {
            Scene(
                leaf: .selfSigned {
                    $0.key = .rsa1024
                    $0.ends = -1
                    $0["subjectAltName"] = "DNS:appliance.test"
                }, anchors: [])
        },
        TrustCase(
            "an unknown root, an expired authority, SHA-1 and the wrong use",
            [.unknownIssuer, .expired, .weakSignature, .wrongUsage]
        ) {
            var scene = chain(
                authority: { $0.ends = -1 },
                leaf: {
                    $0.digest = "SHA1"
                    $0["extendedKeyUsage"] = "clientAuth"
                })
            scene.others += scene.anchors
            scene.anchors = []
            return scene
        },
        TrustCase(
            "revoked, not permitted, too long a path and an unknown extension",
            [.revoked, .nameConstraints, .pathLength, .unknownExtension]
        ) {
            let root = TestCertificate.root { $0["nameConstraints"] = "critical,permitted;DNS:other.test" }
            let policy = TestCertificate.authority("Policy", by: root) {
                $0["basicConstraints"] = "critical,CA:TRUE,pathlen:0"
            }
            let issuing = TestCertificate.authority(by: policy)
            let leaf = TestCertificate.leaf(by: issuing) {
                $0.serial = 7
                $0["1.2.3.4"] = "critical,DER:05:00"
            }
            return Scene(
                leaf: leaf, others: [issuing, policy], anchors: [root],
                lists: [TestRevocationList.make(by: issuing, revoking: [7])])
        },
        TrustCase("a signature that does not fit, expired, for another name", [.invalid, .expired, .wrongName]) {
            var scene = chain(leaf: { $0.ends = -1 }, name: "mail.example.test")
            scene.leaf = try scene.leaf.altered { $0[$0.count - 1] ^= 1 }
            return scene
        },
        TrustCase(
            "incomplete, weak, demanding a staple, not yet valid",
            [.incompleteChain, .weakKey, .weakSignature, .missingStaple, .notYetValid]
        ) {
            var scene = chain(leaf: {
                $0.key = .rsa1024
                $0.digest = "SHA1"
                $0.begins = 3
                $0["tlsfeature"] = "status_request"
            })
            scene.others = []
            return scene
        },
    ]
}
