import Model

@testable import TLS

extension TrustCase {
    static let strength: [TrustCase] = [
        TrustCase("RSA of 2048 bits") { chain(leaf: { $0.key = .rsa2048 }) },
        TrustCase("RSA of 1024 bits", [.weakKey]) { chain(leaf: { $0.key = .rsa1024 }) },
        TrustCase("RSA of 1024 bits in an authority", [.weakKey]) { chain(authority: { $0.key = .rsa1024 }) },
        TrustCase("RSA of 1024 bits in the anchor", [.weakKey]) { chain(root: { $0.key = .rsa1024 }) },
        // No signature is verified, so no issuer is known.
        TrustCase("RSA with an exponent above 2^32", [.weakKey, .incompleteChain], stricter: "a burden") {
            chain(leaf: { $0.key = .longExponent })
        },
        TrustCase(
            "RSA with an exponent above 2^32 in an authority", [.weakKey, .incompleteChain], stricter: "a burden"
        ) {
            chain(authority: { $0.key = .longExponent })
        },
        TrustCase("a curve of 192 bits", [.weakKey]) { chain(leaf: { $0.key = .p192 }) },
        TrustCase("a curve of 192 bits in an authority", [.weakKey]) { chain(authority: { $0.key = .p192 }) },
        TrustCase("a curve of 224 bits") { chain(leaf: { $0.key = .p224 }) },
        TrustCase("a curve that is written out", [.invalid]) { chain(leaf: { $0.key = .explicit }) },
        TrustCase("DSA of 1024 bits", [.weakKey]) { chain(leaf: { $0.key = .dsa1024 }) },
        TrustCase("Ed25519") { chain(leaf: { $0.key = .ed25519 }) },
        TrustCase("Ed25519 in an authority") {
            chain(authority: { $0.key = .ed25519 }, leaf: { $0.digest = nil })
        },
        TrustCase("a key that cannot be read", [.invalid]) {
            var scene = chain()
            // The object identifier of P-256 becomes an unused one.
            scene.leaf = try scene.leaf.altered {
                $0.replace([0x3D, 0x03, 0x01, 0x07], with: [0x3D, 0x03, 0x7F, 0x07])
            }
            return scene
        },
        TrustCase("SHA-1", [.weakSignature]) { chain(leaf: { $0.digest = "SHA1" }) },
        TrustCase("MD5", [.weakSignature]) {
            chain(authority: { $0.key = .rsa2048 }, leaf: { $0.digest = "MD5" })
        },
        TrustCase("SHA-1 in an authority", [.weakSignature]) { chain(authority: { $0.digest = "SHA1" }) },
        TrustCase("SHA-1 in the anchor") { chain(root: { $0.digest = "SHA1" }) },
        TrustCase("SHA-1 in an authority that is an anchor") {
            var scene = chain(authority: { $0.digest = "SHA1" })
            scene.anchors = scene.others
            return scene
        },
        TrustCase("SHA-1 in a server without a known issuer", [.weakSignature, .incompleteChain]) {
            var scene = chain(leaf: { $0.digest = "SHA1" })
            scene.others = []
            return scene
        },
        // 112 bits, which is just enough.
        TrustCase("SHA-224 in a server without a known issuer", [.incompleteChain]) {
            var scene = chain(leaf: { $0.digest = "SHA224" })
            scene.others = []
            return scene
        },
        TrustCase("SHA-1 in a self-signed server", [.selfSigned]) {
            Scene(leaf: .selfSigned { $0.digest = "SHA1" }, anchors: [])
        },
        TrustCase("SHA-224") { chain(leaf: { $0.digest = "SHA224" }) },
        TrustCase("SHA-512") { chain(leaf: { $0.digest = "SHA512" }) },
        TrustCase("RSA-PSS") {
            chain(authority: { $0.key = .rsa2048 }, leaf: { $0.padding = "pss" })
        },
        TrustCase("RSA-PSS with SHA-1", [.weakSignature]) {
            chain(
                authority: { $0.key = .rsa2048 },
                leaf: {
                    $0.padding = "pss"
                    $0.digest = "SHA1"
                })
        },
        TrustCase("a signature by an unknown algorithm", [.invalid, .incompleteChain]) {
            var scene = chain()
            scene.leaf = try scene.leaf.altered {
                $0.replace([0xCE, 0x3D, 0x04, 0x03, 0x02], with: [0xCE, 0x3D, 0x04, 0x03, 0x19])
            }
            return scene
        },
        TrustCase("two algorithms for one signature", [.invalid]) {
            var scene = chain()
            scene.leaf = try scene.leaf.altered {
                $0.replace([0xCE, 0x3D, 0x04, 0x03, 0x02], with: [0xCE, 0x3D, 0x04, 0x03, 0x03], maxReplacements: 1)
            }
            return scene
        },
    ]
}
