import Glibc

/// Calls of malloc and its kin per request on connections that are open and warm.
enum AllocationMeasure {
    private static let connections = 16
    private static let warmup = 5000
    private static let requests = 20_000

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let plain = try await allocations(of: setting.plainAttache, path: "/small", in: setting)
        let answering = try await allocations(of: setting.answeringAttache, path: "/digest", in: setting)
        var theirs: Double?
        if let haproxy = setting.plainHAProxy {
            theirs = try await allocations(of: haproxy, path: "/small", in: setting)
        }
        return [
            Finding("get-allocations", "allocations per 1 KiB GET", "", plain, theirs),
            Finding("digest-allocations", "… with rules and a Digest answer", "", answering, theirs),
        ]
    }

    private static func allocations(
        of contestant: Contestant, path: String, in setting: Setting
    ) async throws(BenchError) -> Double {
        let counter = try setting.workspace.write(String(repeating: "\0", count: 8), to: "allocations")
        let library = setting.options.allocations
        guard Workspace.size(of: library) != nil else { throw .machine("there is no \(library)") }
        let running = try setting.start(
            contestant,
            with: .allocations(library: library, counter: counter))
        defer { running.stop() }
        let generator = try await setting.load(connections, through: running, to: path)
        defer { generator.close() }
        _ = try await generator.run(.requests(warmup))
        let before = try count(in: counter)
        guard before > 0 else { throw .machine("the allocations of \(contestant.name) were not counted") }
        _ = try await generator.run(.requests(requests))
        return Double(try count(in: counter) - before) / Double(requests)
    }

    private static func count(in file: String) throws(BenchError) -> Int {
        guard let bytes = Workspace.read(file), bytes.count == 8 else { throw .machine("cannot read \(file)") }
        return bytes.withUnsafeBytes { Int($0.loadUnaligned(as: Int64.self)) }
    }
}
