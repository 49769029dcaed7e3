import Foundation
import TestSupport

/// A credential helper in a folder of its own, which counts its runs.
struct HelperScript {
    let folder = Scratch.folder("helper")
    var path: String { "\(folder)/helper" }

    /// - Parameter text: what the shell runs in the folder.
    init(_ text: String) throws {
        let script = "#!/bin/sh\ncd \(folder)\necho \"$*\" >>runs\n\(text)\n"
        try ScriptFile.write(script, to: path)
    }

    /// The arguments of each run.
    var runs: [String] { Self.lines("\(folder)/runs") }

    func read(_ name: String) -> String { Scratch.read("\(folder)/\(name)") }

    /// The lines of a file, which may be empty.
    private static func lines(_ path: String) -> [String] {
        Scratch.read(path).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Whether this machine has the programs.
    static func isInstalled(_ programs: String...) -> Bool {
        programs.allSatisfy { name in (try? Spawn.executable(name)).map { access($0, X_OK) == 0 } ?? false }
    }
}
