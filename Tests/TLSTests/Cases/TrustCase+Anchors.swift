import Model

@testable import TLS

extension TrustCase {
    /// Anchors written by older rules, or by none: `openssl req -x509` leaves the key usage out, and so do roots of 2004.
    static let anchors: [TrustCase] = [
        TrustCase("an anchor without key usage", looser: name) { chain(root: { $0["keyUsage"] = nil }) },
        TrustCase("an anchor whose basic constraints are not critical", looser: name) {
            chain(root: { $0["basicConstraints"] = "CA:TRUE" })
        },
        TrustCase("an anchor without an identifier of its key", looser: name) {
            chain(root: { $0["subjectKeyIdentifier"] = nil }, authority: { $0["authorityKeyIdentifier"] = someKey })
        },
        TrustCase("an anchor with nothing but basic constraints, as a first authority is often made", looser: name) {
            chain(
                root: { $0.extensions = [("basicConstraints", "CA:TRUE")] },
                authority: { $0["authorityKeyIdentifier"] = someKey })
        },
        TrustCase("an anchor with a path length and without key usage", looser: name) {
            chain(root: {
                $0["keyUsage"] = nil
                $0["basicConstraints"] = "critical,CA:TRUE,pathlen:1"
            })
        },
        TrustCase("an anchor of version 1", looser: name) {
            chain(
                root: {
                    $0.version = 1
                    $0.extensions = []
                }, authority: { $0["authorityKeyIdentifier"] = someKey })
        },
        TrustCase("an anchor without basic constraints that may sign certificates", looser: name) {
            chain(root: { $0["basicConstraints"] = nil })
        },
        TrustCase("an anchored authority below a root, without key usage", looser: name) {
            var scene = chain(authority: { $0["keyUsage"] = nil })
            scene.anchors = scene.others
            scene.others = []
            return scene
        },
        // What an anchor says it is, and may do, still counts.
        TrustCase("a root without key usage that is no anchor", [.unknownIssuer, .invalid]) {
            var scene = chain(root: { $0["keyUsage"] = nil })
            scene.others += scene.anchors
            scene.anchors = [.root("Other")]
            return scene
        },
        TrustCase("an anchor without key usage above an authority without", [.invalid]) {
            chain(root: { $0["keyUsage"] = nil }, authority: { $0["keyUsage"] = nil })
        },
        TrustCase("an anchor that says it is no authority", [.wrongUsage]) {
            chain(root: { $0["basicConstraints"] = "critical,CA:FALSE" })
        },
        TrustCase("an anchored server issued another one", [.wrongUsage]) {
            let root = TestCertificate.root()
            let server = TestCertificate.leaf(by: root) { $0["keyUsage"] = nil }
            return Scene(leaf: .leaf(by: server), anchors: [server])
        },
        TrustCase("an anchor without key usage whose path length is too short", [.pathLength]) {
            chain(root: {
                $0["keyUsage"] = nil
                $0["basicConstraints"] = "critical,CA:TRUE,pathlen:0"
            })
        },
        TrustCase("an anchor with the parameters of its curve", [.invalid]) {
            chain(root: { $0.key = .explicit })
        },
    ]

    /// The key identifier of a CA that knows its issuer's key but not the issuer's identifier for it.
    private static let someKey = "DER:30:06:80:04:01:02:03:04"
    private static let name = "RFC 5280 section 6.1.1 (d)"
}
