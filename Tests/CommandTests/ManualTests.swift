import Foundation
import Rules
import Testing

@testable import attache

/// The help and the pages for man(1).
struct ManualTests {
    /// The commands that a text shows, each in words; those with pipes, files and substitutions up to these.
    private static func commands(in text: String) -> [[String]] {
        text.split(separator: "\n").compactMap { line in
            let line = line.trimmingCharacters(in: .whitespaces).replacing(#/^\$ /#, with: "")
            guard line.hasPrefix("attache ") else { return nil }
            let words = line.replacing(#/ (>+|<|\||\\).*/#, with: "").matches(of: #/'[^']*'|"[^"]*"|\S+/#)
            return words.map { String($0.0).trimmingCharacters(in: CharacterSet(charactersIn: "'\"")) }
        }
    }

    private static let shown: [[String]] = {
        let texts = ManualTopic.all.map(\.text) + Program.syntaxes.map(\.details)
        return texts.flatMap(ManualText.Block.blocks).flatMap { block -> [[String]] in
            if case .literal(let lines) = block { commands(in: lines.joined(separator: "\n")) } else { [] }
        }
    }()

    @Test(arguments: shown) func `a command that the manual shows is one`(words: [String]) throws {
        let syntax = try #require(Program.syntaxes.first { $0.name == words[1] }, "\(words)")
        _ = try Arguments(Array(words.dropFirst(2)), for: syntax)
    }

    @Test(arguments: ["attache", "proxy.conf"]) func `the pages for man are clean`(page: String) throws {
        let result = try AttacheProgram.run(
            "attache help --man \(page) > page && command -v groff > /dev/null || exit 0; groff -ww -man -Tutf8 -z page",
            in: Folder())
        #expect(result.status == 0 && result.errorOutput == "", "\(result)")
    }

    @Test func `everything that can be asked for has a text`() throws {
        let help = ProgramHelp(commands: Program.syntaxes)
        for word in help.words { #expect(help.text(about: word)?.isEmpty == false, "\(word)") }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func `a shell that is there takes its completions`(shell: String) throws {
        let result = try AttacheProgram.run(
            "attache completions \(shell) > script && command -v \(shell) > /dev/null || exit 0; \(shell) -n script",
            in: Folder())
        #expect(result.status == 0 && result.errorOutput == "", "\(result)")
    }

    @Test func `on a terminal the pager shows the manual`() throws {
        let session = try TerminalSession(["help", "forms"], variables: ["PAGER=sed s/^/paged:/"])
        let (text, status) = session.finish()
        #expect(status == 0 && text.hasPrefix("paged:forms: login pages in HTML"), "\(text)")
    }
}
