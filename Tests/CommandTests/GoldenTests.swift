import Foundation
import Testing

struct GoldenTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".txt") }.sorted()

    @Test func `there are golden files`() {
        #expect(Self.names.count >= 25)
    }

    /// `ATTACHE_GOLDEN=write` rewrites the expectations; read the difference before committing it.
    @Test(arguments: names)
    func `a command says and does what its golden file tells`(name: String) throws {
        let url = Self.folder.appending(path: name)
        let golden = try GoldenFile(String(contentsOf: url, encoding: .utf8))
        let folder = try Folder(golden.files)
        let result = try AttacheProgram.run(golden.command, in: folder).replacing(folder.url.path, with: "/here")
        if ProcessInfo.processInfo.environment["ATTACHE_GOLDEN"] == "write" {
            try golden.text(with: result).write(to: url, atomically: true, encoding: .utf8)
            return
        }
        #expect(result.status == golden.status)
        #expect(result.errorOutput == golden.errorOutput)
        if let pattern = golden.outputPattern {
            #expect(result.output.wholeMatch(of: try Regex(pattern + "\n")) != nil, "\(result.output)")
        } else {
            #expect(result.output == golden.output)
        }
    }

    @Test(arguments: names)
    func `an error reads well after the program's name`(name: String) throws {
        let golden = try GoldenFile(String(contentsOf: Self.folder.appending(path: name), encoding: .utf8))
        let complaints = golden.errorOutput.split(separator: "\n").filter { $0.hasPrefix("attache: ") }
        #expect(complaints.count <= 1)
        for complaint in complaints {
            let sentence = complaint.dropFirst("attache: ".count)
            #expect(!sentence.hasSuffix("."))
            // A name such as METHOD or USER may come first; a sentence's capital may not.
            let first = sentence.prefix { $0.isLetter }
            #expect(first == first.lowercased() || first == first.uppercased(), "\(sentence)")
        }
    }
}
