import Foundation
import Testing

struct UsualPlaceTests {
    @Test(
        .enabled(if: !FileManager.default.fileExists(atPath: "/etc/attache/proxy.conf")),
        arguments: ["run", "check", "healthcheck"])
    func `without a rule file one sentence names where it could be`(command: String) throws {
        let folder = try Folder()
        let result = try AttacheProgram.run("attache \(command)", in: folder)
        #expect(result.status == 2)
        #expect(result.output == "")
        #expect(result.errorOutput.split(separator: "\n").count == 1)
        let expected = ["attache: there is no rule file", "./proxy.conf", "/etc/attache/proxy.conf", "attache init"]
        for words in expected {
            #expect(result.errorOutput.contains(words), "\(result.errorOutput)")
        }
    }
}
