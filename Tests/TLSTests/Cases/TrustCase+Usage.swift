import Model

@testable import TLS

extension TrustCase {
    static let usage: [TrustCase] = [
        TrustCase("for clients only", [.wrongUsage]) { chain(leaf: { $0["extendedKeyUsage"] = "clientAuth" }) },
        TrustCase("for servers and clients") { chain(leaf: { $0["extendedKeyUsage"] = "clientAuth,serverAuth" }) },
        TrustCase("for no purpose in particular") { chain(leaf: { $0["extendedKeyUsage"] = nil }) },
        TrustCase("for any purpose", [.wrongUsage]) { chain(leaf: { $0["extendedKeyUsage"] = "anyExtendedKeyUsage" }) },
        TrustCase("for signing code", [.wrongUsage]) {
            chain(leaf: { $0["extendedKeyUsage"] = "critical,codeSigning" })
        },
        TrustCase("an authority for servers") { chain(authority: { $0["extendedKeyUsage"] = "serverAuth" }) },
        TrustCase("an authority for clients only", [.wrongUsage]) {
            chain(authority: { $0["extendedKeyUsage"] = "clientAuth" })
        },
        TrustCase("an authority for mail only", [.wrongUsage]) {
            chain(authority: { $0["extendedKeyUsage"] = "emailProtection" })
        },
        TrustCase("an anchor for clients only", [.wrongUsage]) {
            chain(root: { $0["extendedKeyUsage"] = "clientAuth" })
        },
        TrustCase("a key for any use") { chain(leaf: { $0["keyUsage"] = nil }) },
        TrustCase("a key that signs and encrypts") {
            chain(leaf: { $0["keyUsage"] = "critical,digitalSignature,keyEncipherment" })
        },
        TrustCase("a key that only encrypts signs the handshake", [.wrongUsage], stricter: "RFC 8446 section 4.4.2.2") {
            chain(leaf: { $0["keyUsage"] = "critical,keyEncipherment" })
        },
        TrustCase("a key that only agrees signs the handshake", [.wrongUsage], stricter: "RFC 8446 section 4.4.2.2") {
            chain(leaf: { $0["keyUsage"] = "critical,keyAgreement" })
        },
        TrustCase("a key that encrypts the handshake's secret") {
            encrypting("critical,keyEncipherment")
        },
        TrustCase("a key that only signs encrypts", [.wrongUsage], stricter: "RFC 5280 section 4.2.1.3") {
            encrypting("critical,digitalSignature")
        },
        TrustCase("a key for neither", [.wrongUsage]) { chain(leaf: { $0["keyUsage"] = "critical,nonRepudiation" }) },
        TrustCase("Netscape's type for clients", [.wrongUsage]) { chain(leaf: { $0["nsCertType"] = "client" }) },
        TrustCase("Netscape's type for servers") { chain(leaf: { $0["nsCertType"] = "server" }) },
        TrustCase("a proxy certificate", [.wrongUsage, .wrongName]) {
            let root = TestCertificate.root()
            let user = TestCertificate.leaf(by: root)
            let proxy = TestCertificate.leaf(by: user) {
                $0.subject = "CN=leaf,CN=proxy"
                $0["subjectAltName"] = nil
                $0["proxyCertInfo"] = "critical,language:id-ppl-anyLanguage,pathlen:0"
            }
            return Scene(leaf: proxy, others: [user], anchors: [root])
        },
    ]

    private static func encrypting(_ usage: String) -> Scene {
        var scene = chain(leaf: {
            $0.key = .rsa2048
            $0["keyUsage"] = usage
        })
        scene.keyExchange = .encrypted
        return scene
    }
}
