import Foundation
import Testing

@testable import Admin

@Suite struct PracticeCredentialTests {
    @Test func `the practice credential is the one that the example configuration names`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let example = try String(contentsOf: root.appendingPathComponent("proxy.conf.example"), encoding: .utf8)
        let credential = "{ user \(PracticeCredential.user); password \"\(PracticeCredential.password)\" }"
        #expect(example.split(separator: "\n").contains { $0 == "credential practice \(credential)" })
    }
}
