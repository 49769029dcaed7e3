import Foundation
import Testing

/// A person with an empty home, who knows `HTTP_PROXY` and no more.
struct Beginner {
    let folder = Scratch.folder("first minutes")
    let port = FreePort.take()
    let adminPort = FreePort.take()
    var environment: [String: String]

    init(_ password: String = Account.password, environment: [String: String] = [:]) throws {
        self.environment = environment.merging(["HOME": folder]) { $1 }
        try Scratch.write(password + "\n", to: folder + "/typed", mode: 0o600)
    }

    /// The directory of the rule file.
    var home: String { folder + "/.config/attache" }
    var rules: String { home + "/proxy.conf" }

    private var addresses: [String] { ["--listen", "127.0.0.1:\(port)", "--admin", "127.0.0.1:\(adminPort)"] }

    /// `attache init`, with the password on standard input.
    func begin(_ url: String, _ options: String..., user: String = Account.user) throws -> Finished {
        try Finished.run(
            AttacheBinary.path, ["init", url, "--user", user] + addresses + options,
            environment: environment, directory: folder, input: folder + "/typed", seconds: 60)
    }

    /// A command on a terminal, where each prompt gets the answer.
    ///
    /// - Returns: the screen.
    func type(_ arguments: [String], answering answers: [(prompt: String, answer: String)]) throws -> Finished {
        let isNew = !FileManager.default.fileExists(atPath: rules)
        let script = folder + "/typist.py"
        try Scratch.write(Self.typist, to: script)
        let pairs = try JSONSerialization.data(withJSONObject: answers.map { [$0.prompt, $0.answer] })
        // Answers are secrets, and no arguments.
        try Scratch.write(String(decoding: pairs, as: UTF8.self), to: folder + "/answers", mode: 0o600)
        return try Finished.run(
            "python3", [script, folder + "/answers", AttacheBinary.path] + arguments + (isNew ? addresses : []),
            environment: environment, directory: folder, seconds: 120)
    }

    /// Runs a command in a terminal of its own. An answer is typed when its prompt is shown.
    private static let typist = """
        import json, os, pty, sys
        answers = json.load(open(sys.argv[1]))
        child, screen = pty.fork()
        if child == 0:
            os.execv(sys.argv[2], sys.argv[2:])
        shown, seen = b"", 0
        while True:
            try:
                piece = os.read(screen, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            while answers and (place := shown.find(answers[0][0].encode(), seen)) >= 0:
                seen = place + len(answers[0][0])
                os.write(screen, answers.pop(0)[1].encode() + b"\\n")
        sys.stdout.write(shown.decode().replace("\\r\\n", "\\n"))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if answers:
            sys.stdout.write("never asked: " + answers[0][0] + "\\n")
        sys.exit(status if not answers else 99)
        """

    /// Runs the proxy by the command that was printed while `body` runs.
    func running(_ command: String, _ body: () throws -> Void) throws {
        let proxy = try Subprocess("sh", ["-c", "exec \(command)"], environment: environment, directory: folder)
        try Socket.awaitListener(on: port, of: proxy)
        try body()
        proxy.signal(SIGTERM)
        #expect(proxy.wait(seconds: 60) == 0, "\(proxy.errorOutput)")
        let printed = proxy.output + proxy.errorOutput
        #expect(!Account.secrets.contains { printed.contains($0) }, "\(printed)")
        FreePort.release(port)
        FreePort.release(adminPort)
    }

    func shell(_ lines: String) throws -> Finished {
        try Finished.run("sh", ["-c", lines], environment: environment, directory: folder)
    }

    /// The names of the files beside the rule file.
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: home).sorted()) ?? [] }

    /// The commands that a text shows.
    static func commands(in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("    ") && !$0.hasPrefix("     ") }.map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }
}
