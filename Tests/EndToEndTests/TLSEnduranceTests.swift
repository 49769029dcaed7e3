import Foundation
import Testing

/// Many handshakes and many requests leave nothing behind: here no growth, and under `make sanitize` no lost memory.
struct TLSEnduranceTests {
    /// Under AddressSanitizer, which keeps what was freed, its own report at the end of the process says more.
    private func expectMemory(of proxy: AttacheProcess, toStayAt before: Int) throws {
        guard !Sanitizer.isPresent else { return }
        let after = try proxy.residentKiB()
        #expect(after < before + 4_096, "\(before) KiB grew to \(after)")
    }

    private func fetch(_ count: Int, _ options: [String], _ url: String, through proxy: AttacheProcess) throws -> Int {
        let configuration = "\(Scratch.root)/many.\(UUID().uuidString)"
        defer { unlink(configuration) }
        try Scratch.write(
            String(repeating: "url = \"\(url)\"\noutput = \"/dev/null\"\n", count: count), to: configuration)
        let fixed = ["-q", "-sS", "-x", proxy.address, "--cacert", try proxy.exportedAuthority()]
        let parallel = ["--parallel", "--parallel-max", "8", "-w", "%{http_code}\n", "-K", configuration]
        let run = try Finished.run("curl", fixed + parallel + options, seconds: 240)
        return run.output.split(separator: "\n").count { $0 == "200" }
    }

    @Test func `a thousand intercepted handshakes leave the memory as it was`() throws {
        let url = try Zoo.shared().url(Specimen["good"])
        try AttacheProcess.visitingZoo(setting: .init(threads: 1, log: "off")) { proxy throws in
            let options = ["-H", "Connection: close", "--no-sessionid"]
            #expect(try fetch(300, options, url, through: proxy) == 300)
            let before = try proxy.residentKiB()
            #expect(try fetch(1_000, options, url, through: proxy) == 1_000)
            try expectMemory(of: proxy, toStayAt: before)
        }
    }

    @Test func `ten thousand intercepted requests leave the memory as it was`() throws {
        let url = try Zoo.shared().url(Specimen["good"])
        try AttacheProcess.visitingZoo(setting: .init(threads: 1, log: "off")) { proxy throws in
            #expect(try fetch(1_000, [], url, through: proxy) == 1_000)
            let before = try proxy.residentKiB()
            #expect(try fetch(10_000, [], url, through: proxy) == 10_000)
            try expectMemory(of: proxy, toStayAt: before)
        }
    }

    @Test func `a thousand handshakes with origins leave the memory as it was`() throws {
        let url = try Zoo.shared().url(Specimen["good"], "/close", scheme: "http")
        try AttacheProcess.visitingZoo(setting: .init(threads: 1, log: "off")) { proxy throws in
            #expect(try fetch(300, [], url, through: proxy) == 300)
            let before = try proxy.residentKiB()
            #expect(try fetch(1_000, [], url, through: proxy) == 1_000)
            try expectMemory(of: proxy, toStayAt: before)
        }
    }
}
