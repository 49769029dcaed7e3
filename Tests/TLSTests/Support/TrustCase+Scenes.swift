@testable import TLS

extension TrustCase {
    typealias Change = (inout TestCertificate.Recipe) -> Void

    /// An anchored root, an authority that is sent, and a server's certificate.
    static func chain(
        root: Change = { _ in }, authority: Change = { _ in }, leaf: Change = { _ in },
        name: String = "www.example.test"
    ) -> Scene {
        let top = TestCertificate.root("Root", root)
        let issuing = TestCertificate.authority(by: top, authority)
        return Scene(leaf: .leaf(by: issuing, leaf), others: [issuing], anchors: [top], name: name)
    }

    /// A chain whose server has these alternative names.
    static func named(_ names: String?, subject: String = "CN=leaf", _ name: String = "www.example.test") -> Scene {
        chain(
            leaf: {
                $0.subject = subject
                $0["subjectAltName"] = names
            }, name: name)
    }
}
