import Foundation

/// Many requests at once by one curl.
enum Parallel {
    /// The statuses of so many requests for the same URL.
    static func fetch(_ count: Int, _ url: String, through proxy: AttacheProcess) throws -> [Int] {
        let configuration = "\(Scratch.root)/parallel.\(UUID().uuidString)"
        defer { unlink(configuration) }
        let one = "url = \"\(url)\"\noutput = \"/dev/null\"\n"
        try Scratch.write(String(repeating: one, count: count), to: configuration)
        let options = ["--parallel", "--parallel-immediate", "--parallel-max", "\(min(count, 300))"]
        let fixed = ["-q", "-sS", "-x", proxy.address, "--max-time", "60", "-w", "%{http_code}\n"]
        let run = try Finished.run("curl", fixed + options + ["-K", configuration], seconds: 90)
        return run.output.split(separator: "\n").compactMap { Int($0) }
    }
}
