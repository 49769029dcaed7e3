import Foundation

/// curl as most tests' client: no configuration, no environment, never longer than a minute.
enum Curl {
    static func fetch(_ url: String, _ options: [String] = []) throws -> Fetched {
        let stem = "\(Scratch.root)/curl.\(UUID().uuidString)"
        let (head, body) = (stem + ".head", stem + ".body")
        defer {
            unlink(head)
            unlink(body)
        }
        let run = try Finished.run(
            "curl", ["-q", "-sS", "--max-time", "60", "-D", head, "-o", body] + options + [url], seconds: 70)
        return Fetched(run: run, heads: Scratch.read(head), text: Scratch.read(body))
    }
}
