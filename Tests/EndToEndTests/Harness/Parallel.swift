import Foundation

/// Many requests at once by one curl, which runs beside the test.
struct Parallel {
    private let curl: Subprocess
    private let configuration: String

    /// Begins so many requests for the same URL.
    ///
    /// - Parameter options: more of curl's.
    init(_ count: Int, _ url: String, through proxy: AttacheProcess, options: [String] = []) throws {
        configuration = "\(Scratch.root)/parallel.\(UUID().uuidString)"
        let one = "url = \"\(url)\"\noutput = \"/dev/null\"\n"
        try Scratch.write(String(repeating: one, count: count), to: configuration)
        let parallel = ["--parallel", "--parallel-immediate", "--parallel-max", "\(min(count, 300))"]
        let fixed = ["-q", "-sS", "-x", proxy.address, "--max-time", "60", "-w", "%{http_code}\n"]
        curl = try Subprocess("curl", fixed + parallel + options + ["-K", configuration])
    }

    /// Waits for their end.
    func statuses() -> [Int] {
        defer { unlink(configuration) }
        _ = curl.wait(seconds: 90) ?? curl.kill()
        return curl.output.split(separator: "\n").compactMap { Int($0) }
    }

    static func fetch(_ count: Int, _ url: String, through proxy: AttacheProcess) throws -> [Int] {
        try Parallel(count, url, through: proxy).statuses()
    }
}
