import Model

@testable import TLS

extension TrustCase {
    static let times: [TrustCase] = [
        TrustCase("an expired server", [.expired]) { chain(leaf: { $0.ends = -1 }) },
        TrustCase("an expired authority", [.expired]) { chain(authority: { $0.ends = -1 }) },
        TrustCase("an expired anchor", [.expired]) { chain(root: { $0.ends = -1 }) },
        TrustCase("everything expired", [.expired]) {
            chain(root: { $0.ends = -1 }, authority: { $0.ends = -2 }, leaf: { $0.ends = -3 })
        },
        TrustCase("a server of the future", [.notYetValid]) { chain(leaf: { $0.begins = 1 }) },
        TrustCase("an authority of the future", [.notYetValid]) { chain(authority: { $0.begins = 1 }) },
        TrustCase("an anchor of the future", [.notYetValid]) { chain(root: { $0.begins = 1 }) },
        TrustCase("an expired server below an authority of the future", [.expired, .notYetValid]) {
            chain(authority: { $0.begins = 1 }, leaf: { $0.ends = -1 })
        },
        TrustCase("a server that ended before it began", [.expired, .notYetValid]) {
            chain(leaf: {
                $0.begins = 1
                $0.ends = -1
            })
        },
        TrustCase("the first second of a validity") { at(0, { $0.begins = 0 }) },
        TrustCase("the second before a validity", [.notYetValid]) { at(-1, { $0.begins = 0 }) },
        TrustCase("the last second of a validity", stricter: nil) { at(-1, { $0.ends = 0 }) },
        TrustCase("the second after a validity", [.expired]) { at(1, { $0.ends = 0 }) },
        TrustCase("a validity into the next century") { chain(leaf: { $0.ends = 40_000 }) },
        TrustCase("an expired authority below no anchor", [.expired, .incompleteChain]) {
            var scene = chain(authority: { $0.ends = -1 })
            scene.anchors = []
            return scene
        },
        TrustCase("a self-signed server that has expired", [.expired, .selfSigned]) {
            Scene(leaf: .selfSigned { $0.ends = -1 }, anchors: [])
        },
        TrustCase("a validity that cannot be read", [.invalid]) {
            var scene = chain()
            // The hour of the begin, 08, becomes 99.
            scene.leaf = try scene.leaf.altered { der in
                let begin = Array("270105080000Z".utf8)
                der.replace(begin, with: Array("270105990000Z".utf8))
            }
            return scene
        },
    ]

    private static func at(_ offset: Int, _ leaf: Change) -> Scene {
        var scene = chain(leaf: leaf)
        scene.at += offset
        return scene
    }
}
