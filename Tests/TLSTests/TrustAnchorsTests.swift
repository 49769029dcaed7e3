import Bytes
import Foundation
import Testing

@testable import TLS

@Suite struct TrustAnchorsTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "anchors-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func file(_ name: String, _ text: String) throws -> String {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func system(_ environment: [String: String]) throws -> TrustAnchors {
        try TrustAnchors.system { environment[$0] }
    }

    private func trusts(_ anchors: TrustAnchors, _ scene: TrustCase.Scene) -> Bool {
        let chain = PresentedChain(leaf: scene.leaf.certificate, others: scene.others.map(\.certificate))
        return TrustEvaluation.of(
            chain, for: ServerName(scene.name), anchors: anchors, at: WallTime(seconds: TestCertificate.now)
        )
        .verified != nil
    }

    @Test func `The file that the environment names is read, and its anchors are found by name`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let scenes = [TrustCase.chain(), TrustCase.chain(root: { $0.subject = "CN=Other" }), TrustCase.chain()]
        let path = try file("a.pem", scenes[..<2].map { $0.anchors[0].certificate.pem }.joined(separator: "text\n"))
        let anchors = try system(["SSL_CERT_FILE": path, "SSL_CERT_DIR": folder.path])
        #expect(anchors.count == 2)
        #expect(scenes.map { trusts(anchors, $0) } == [true, true, false])
        #expect(anchors.contains(scenes[0].anchors[0].certificate))
        #expect(!anchors.contains(scenes[2].anchors[0].certificate))
    }

    @Test func `Two anchors of one name are both found`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let scenes = [TrustCase.chain(), TrustCase.chain(), TrustCase.chain()]
        let path = try file("a.pem", scenes[..<2].map { $0.anchors[0].certificate.pem }.joined())
        let anchors = try system(["SSL_CERT_FILE": path, "SSL_CERT_DIR": folder.path])
        #expect(scenes.map { trusts(anchors, $0) } == [true, true, false])
        let more = try anchors.adding([scenes[2].anchors[0].certificate])
        #expect(more.count == 3)
        #expect(scenes.map { trusts(more, $0) } == [true, true, true])
        #expect(scenes.map { trusts(anchors, $0) } == [true, true, false])
    }

    @Test func `Folders hold files that are named by hash`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let scenes = [TrustCase.chain(), TrustCase.chain(root: { $0.subject = "CN=Other" })]
        _ = try file("0123abcd.0", scenes[0].anchors[0].certificate.pem)
        _ = try file("0123abcd.1", "nothing of use")
        _ = try file("other.pem", scenes[1].anchors[0].certificate.pem)
        let anchors = try system([
            "SSL_CERT_FILE": try file("a.pem", scenes[0].anchors[0].certificate.pem), "SSL_CERT_DIR": folder.path,
        ])
        #expect(anchors.count == 1)
        #expect(scenes.map { trusts(anchors, $0) } == [true, false])
    }

    @Test func `Of what the environment names one may be missing, as for OpenSSL, and not all`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let missing = folder.appending(path: "missing").path
        let scene = TrustCase.chain()
        let path = try file("a.pem", scene.anchors[0].certificate.pem)
        #expect(trusts(try system(["SSL_CERT_FILE": path, "SSL_CERT_DIR": missing]), scene))
        _ = try file("0123abcd.0", scene.anchors[0].certificate.pem)
        #expect(trusts(try system(["SSL_CERT_FILE": missing, "SSL_CERT_DIR": "\(missing):\(folder.path)"]), scene))
        #expect(throws: TrustAnchors.Failure.absent(path: missing)) {
            try system(["SSL_CERT_FILE": missing, "SSL_CERT_DIR": "\(folder.path)/a.pem.d"])
        }
    }

    @Test func `What the environment names and is there must be readable`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let empty = try file("empty.pem", "")
        #expect(throws: TrustAnchors.Failure.damaged(path: empty, .none)) { try system(["SSL_CERT_FILE": empty]) }
        #expect(throws: TrustAnchors.Failure.unreadable(path: empty, reason: "Not a directory")) {
            try system(["SSL_CERT_DIR": empty])
        }
        let damaged = try file("damaged.pem", "-----BEGIN CERTIFICATE-----\nMA")
        #expect(throws: TrustAnchors.Failure.damaged(path: damaged, .malformedBlock(1))) {
            try system(["SSL_CERT_FILE": damaged])
        }
    }

    @Test func `An anchor that is there twice counts once, and what is no certificate not at all`() {
        let root = TestCertificate.root().certificate
        #expect(TrustAnchors.Index([root.der, root.der, [], [0x30, 0x00], Array(root.der.prefix(40))]).count == 1)
    }

    @Test func `Many threads share one store`() async throws {
        let scenes = (0..<8).map { number in TrustCase.chain(root: { $0.subject = "CN=Root \(number % 4)" }) }
        let index = TrustAnchors.Index(scenes.prefix(7).map { $0.anchors[0].certificate.der })
        let anchors = try TrustAnchors([], index)
        let verdicts = await withTaskGroup(of: (Int, Bool).self) { group in
            for round in 0..<64 { group.addTask { (round % 8, trusts(anchors, scenes[round % 8])) } }
            return await group.reduce(into: [[Bool]](repeating: [], count: 8)) { $0[$1.0].append($1.1) }
        }
        for number in 0..<8 { #expect(verdicts[number] == Array(repeating: number < 7, count: 8)) }
    }
}
