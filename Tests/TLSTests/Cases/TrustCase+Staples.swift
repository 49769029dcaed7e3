import COpenSSL
import Model

@testable import TLS

extension TrustCase {
    static let staples: [TrustCase] = [
        TrustCase("a good staple") { stapled { TestStaple.make(for: $0, issuedBy: $1) } },
        TrustCase("a good staple that names by SHA-256") {
            stapled { TestStaple.make(for: $0, issuedBy: $1, naming: "SHA256") }
        },
        TrustCase("a staple that revokes", [.revoked], stricter: checked) {
            stapled { TestStaple.make(for: $0, issuedBy: $1, .revoked(reason: 1)) }
        },
        TrustCase("an old staple that revokes", [.revoked], stricter: checked) {
            stapled { TestStaple.make(for: $0, issuedBy: $1, .revoked(reason: 4), from: -90, until: -40) }
        },
        TrustCase("a staple that does not know the server", [.missingStaple], stricter: checked) {
            stapled { TestStaple.make(for: $0, issuedBy: $1, .unknown) }
        },
        TrustCase("a staple that has ended", [.missingStaple], stricter: checked) {
            stapled { TestStaple.make(for: $0, issuedBy: $1, from: -90, until: -1) }
        },
        TrustCase("a staple of the future", [.missingStaple], stricter: checked) {
            stapled { TestStaple.make(for: $0, issuedBy: $1, from: 1) }
        },
        TrustCase("a staple without an end", [.missingStaple], stricter: "RFC 5019 section 2.2.4") {
            stapled { TestStaple.make(for: $0, issuedBy: $1, until: nil) }
        },
        TrustCase("a staple signed with SHA-1", [.missingStaple], stricter: checked) {
            stapled { TestStaple.make(for: $0, issuedBy: $1, digest: "SHA1") }
        },
        TrustCase("a staple by a stranger", [.missingStaple], stricter: checked) {
            let stranger = TestCertificate.root("Stranger")
            return stapled { TestStaple.make(for: $0, issuedBy: $1, signedBy: stranger, enclosing: [stranger]) }
        },
        TrustCase("a revoking staple by a stranger", [.missingStaple], stricter: checked) {
            let stranger = TestCertificate.root("Stranger")
            return stapled {
                TestStaple.make(for: $0, issuedBy: $1, .revoked(reason: 1), signedBy: stranger, enclosing: [stranger])
            }
        },
        TrustCase("a staple by a responder of the issuer") { delegated() },
        TrustCase("a staple by a responder that was not enclosed", [.missingStaple], stricter: checked) {
            delegated(enclosed: false)
        },
        TrustCase("a staple by a server of the issuer", [.missingStaple], stricter: checked) {
            delegated { $0["extendedKeyUsage"] = "serverAuth" }
        },
        TrustCase("a staple by an expired responder", [.missingStaple], stricter: checked) {
            delegated { $0.ends = -1 }
        },
        TrustCase("a staple by a responder whose key is weak", [.missingStaple], stricter: checked) {
            delegated { $0.key = .rsa1024 }
        },
        TrustCase("a staple by a responder whose key has a long exponent", [.missingStaple], stricter: "a burden") {
            delegated { $0.key = .longExponent }
        },
        TrustCase("a staple by a responder of the root", [.missingStaple], stricter: checked) {
            delegated(byRoot: true)
        },
        TrustCase("a staple about another server", [.missingStaple], stricter: checked) {
            stapled { TestStaple.make(for: .leaf(by: $1) { $0.serial = 99 }, issuedBy: $1) }
        },
        TrustCase("a staple that is none", [.missingStaple], stricter: checked) { stapled { _, _ in [1, 2, 3] } },
        TrustCase("a staple and a byte more", [.missingStaple], stricter: checked) {
            stapled { TestStaple.make(for: $0, issuedBy: $1) + [0] }
        },
        TrustCase("a responder's error as staple") {
            stapled { _, _ in TestStaple.error(OCSP_RESPONSE_STATUS_TRYLATER) }
        },
        TrustCase("an empty staple") { stapled { _, _ in [] } },
        TrustCase("a staple that is demanded and good") {
            stapled(demand) { TestStaple.make(for: $0, issuedBy: $1) }
        },
        TrustCase("a staple that is demanded and missing", [.missingStaple], stricter: demanded) {
            stapled(demand) { _, _ in nil }
        },
        TrustCase("a staple that is demanded and is an error", [.missingStaple], stricter: demanded) {
            stapled(demand) { _, _ in TestStaple.error(OCSP_RESPONSE_STATUS_TRYLATER) }
        },
        TrustCase("a staple of the second version that is demanded and missing", [.missingStaple], stricter: demanded) {
            stapled({ $0["tlsfeature"] = "status_request_v2" }) { _, _ in nil }
        },
        TrustCase("another feature that is demanded") { stapled({ $0["tlsfeature"] = "10" }) { _, _ in nil } },
        TrustCase("a demand that cannot be read", [.missingStaple], stricter: demanded) {
            stapled({ $0["tlsfeature"] = "DER:04:01:00" }) { _, _ in nil }
        },
        TrustCase("a critical demand", [.missingStaple, .unknownExtension]) {
            stapled({ $0["tlsfeature"] = "critical,status_request" }) { _, _ in nil }
        },
        TrustCase("a staple that the authority demands and is missing", [.missingStaple], stricter: demanded) {
            chain(authority: { $0["tlsfeature"] = "status_request" })
        },
        TrustCase("a demanded staple that nobody can check", [.missingStaple, .incompleteChain]) {
            var scene = stapled(demand) { TestStaple.make(for: $0, issuedBy: $1) }
            scene.others = []
            return scene
        },
        TrustCase("a self-signed server that demands a staple", [.missingStaple, .selfSigned]) {
            Scene(leaf: .selfSigned(demand), anchors: [])
        },
        TrustCase("an anchor of its own that staples") {
            let leaf = TestCertificate.selfSigned(demand)
            return Scene(leaf: leaf, anchors: [leaf], staple: TestStaple.make(for: leaf, issuedBy: leaf))
        },
        TrustCase("an anchor of its own that revokes itself", [.revoked], stricter: checked) {
            let leaf = TestCertificate.selfSigned()
            let staple = TestStaple.make(for: leaf, issuedBy: leaf, .revoked(reason: 1))
            return Scene(leaf: leaf, anchors: [leaf], staple: staple)
        },
        TrustCase("a staple that revokes a server below no anchor", [.revoked, .incompleteChain]) {
            var scene = stapled { TestStaple.make(for: $0, issuedBy: $1, .revoked(reason: 1)) }
            scene.anchors = []
            return scene
        },
    ]

    private static let checked = "RFC 6066 section 8"
    private static let demanded = "RFC 7633 section 4.2.3.1"
    private static let demand: @Sendable (inout TestCertificate.Recipe) -> Void = {
        $0["tlsfeature"] = "status_request"
    }

    private static func stapled(
        _ leaf: Change = { _ in }, _ staple: (TestCertificate, TestCertificate) -> [UInt8]?
    ) -> Scene {
        var scene = chain(leaf: leaf)
        scene.staple = staple(scene.leaf, scene.others[0])
        return scene
    }

    private static func delegated(
        byRoot: Bool = false, enclosed: Bool = true, _ change: Change = { _ in }
    ) -> Scene {
        var scene = chain()
        let responder = TestCertificate.leaf(by: byRoot ? scene.anchors[0] : scene.others[0]) {
            $0.subject = "CN=responder"
            $0["extendedKeyUsage"] = "OCSPSigning"
            change(&$0)
        }
        scene.staple = TestStaple.make(
            for: scene.leaf, issuedBy: scene.others[0], signedBy: responder, enclosing: enclosed ? [responder] : [])
        return scene
    }
}
