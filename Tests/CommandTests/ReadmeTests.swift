import Foundation
import Testing

@testable import attache

/// The README's examples. Those that lead to the first 200 are walked in `EndToEndTests`.
struct ReadmeTests {
    private static let text: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        return (try? String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)) ?? ""
    }()

    /// The blocks between fences of that language.
    private static func blocks(_ language: String) -> [String] {
        var blocks: [String] = []
        var open: (language: String, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let block = open, line == "```" {
                if block.language == language { blocks.append(block.lines.joined(separator: "\n") + "\n") }
                open = nil
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), [])
            }
        }
        return blocks
    }

    private static let commands = blocks("console").flatMap { block in
        block.replacing("\\\n", with: " ").split(separator: "\n").filter { $0.hasPrefix("$ ") }
            .map { String($0.dropFirst(2)) }
    }

    @Test func `it says who needs the program, and leads to a response before any table`() throws {
        #expect(Self.text.matches(of: #/(?m)^## .*$/#).first?.0 == "## Do you need it?")
        #expect(Self.text.contains("\n## Add a second server\n"))
        let table = try #require(Self.text.firstRange(of: "\n|"))
        for walk in ["$ attache init http://", "$ attache init --intercept https://"] {
            #expect(try #require(Self.text.firstRange(of: walk)).lowerBound < table.lowerBound)
        }
    }

    @Test(arguments: commands) func `a command is one`(command: String) throws {
        let words = command.split(separator: " ").map(String.init).filter { $0 != "&" }
        guard words[0] == "attache" else {
            let known = [
                "make build", "sudo apt install ", "tar -xzf ", "export PATH=", "eval \"$(attache env)\"",
                "docker run ", "curl -i ", "http_proxy=",
            ]
            #expect(known.contains { command.hasPrefix($0) }, "\(command)")
            return
        }
        let syntax = try #require(Program.syntaxes.first { $0.name == words[1] })
        _ = try Arguments(Array(words.dropFirst(2)), for: syntax)
    }

    @Test func `a rule file is a good one`() throws {
        let blocks = Self.blocks("")
        #expect(blocks.count >= 2)
        for block in blocks {
            let result = try AttacheProgram.run("attache check", in: Folder(["proxy.conf": block]))
            // The secrets of the examples are not on this machine.
            let complaints = result.errorOutput.split(separator: "\n").filter { line in
                !line.contains(": cannot read ") || !line.hasSuffix(": no such file or directory")
            }
            #expect(result.status == 0 && complaints.isEmpty, "\(result)")
        }
    }

    /// The words behind `attache` in the running text.
    @Test func `a command in a sentence is one`() throws {
        let names = Self.text.matches(of: #/`(?:eval "\$\()?attache ([a-z]+)/#).map { String($0.1) }
        #expect(names.count > 15)
        for name in names { #expect(Program.syntaxes.contains { $0.name == name }, "\(name)") }
        let help = ProgramHelp(commands: Program.syntaxes)
        for topic in Self.text.matches(of: #/attache help ([a-z]+)/#) {
            #expect(help.text(about: String(topic.1)) != nil)
        }
    }
}
