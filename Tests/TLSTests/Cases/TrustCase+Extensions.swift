import Model

@testable import TLS

extension TrustCase {
    static let extensions: [TrustCase] = [
        TrustCase("an unknown extension") { chain(leaf: { $0["1.2.3.4"] = "DER:05:00" }) },
        TrustCase("an unknown critical extension", [.unknownExtension]) {
            chain(leaf: { $0["1.2.3.4"] = "critical,DER:05:00" })
        },
        TrustCase("an unknown critical extension in an authority", [.unknownExtension]) {
            chain(authority: { $0["1.2.3.4"] = "critical,DER:05:00" })
        },
        TrustCase("an unknown critical extension in the anchor", [.unknownExtension]) {
            chain(root: { $0["1.2.3.4"] = "critical,DER:05:00" })
        },
        TrustCase("a critical policy") { chain(leaf: { $0["certificatePolicies"] = "critical,1.2.3.4" }) },
        TrustCase("critical places of lists") {
            chain(leaf: { $0["crlDistributionPoints"] = "critical,URI:http://lists.example.test/1.crl" })
        },
        TrustCase("a critical place of the issuer", [.unknownExtension]) {
            chain(leaf: { $0["authorityInfoAccess"] = "critical,OCSP;URI:http://ocsp.example.test/" })
        },
        TrustCase("a critical identifier of the key", [.unknownExtension]) {
            chain(leaf: { $0["subjectKeyIdentifier"] = "critical,hash" })
        },
        TrustCase("the same extension twice", [.invalid, .incompleteChain]) {
            chain(leaf: {
                $0.extensions.append(("basicConstraints", "critical,CA:FALSE"))
            })
        },
        TrustCase("alternative names twice", [.invalid, .incompleteChain, .wrongName]) {
            chain(leaf: { $0.extensions.append(("subjectAltName", "DNS:www.example.test")) })
        },
        TrustCase("a key usage that cannot be read", [.invalid, .incompleteChain]) {
            chain(leaf: { $0["keyUsage"] = "critical,DER:04:01:00" })
        },
        TrustCase("an extended key usage that cannot be read", [.invalid, .incompleteChain]) {
            chain(leaf: { $0["extendedKeyUsage"] = "DER:04:01:00" })
        },
        TrustCase("an authority without a name", [.invalid]) {
            let root = TestCertificate.root()
            let issuing = TestCertificate.authority(by: root) { $0.subject = "" }
            return Scene(leaf: .leaf(by: issuing), others: [issuing], anchors: [root])
        },
    ]
}
