import Authentication
import Credentials
import Crypto
import Glibc
import Model

/// The cost of a store with many credentials: at the start, in memory, and at every check.
enum StoreMeasure {
    private static let (many, few) = (100_000, 100)
    private static let looks = 200_000
    private static let key = String(repeating: "5a", count: SealingKey.count)

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let large = try store(of: many, in: setting)
        let look = try nanoseconds(large, of: many, in: setting)
        let lookAmongFew = try nanoseconds(try store(of: few, in: setting), of: few, in: setting)
        let running = AttacheContestant.stored(setting.options.attache, in: large)
        let proxy = try setting.start(running)
        defer { proxy.stop() }
        let generator = try await setting.load(1, through: proxy, to: "/small")
        try await generator.runEach()
        let taken = Double(proxy.processorTime) / 1_000_000
        generator.close()
        return [
            Finding("store-start", "start with 100,000 stored credentials, CPU time", "ms", taken),
            Finding("store-memory", "memory with them", "MB", Double(proxy.residentMemory) * 1024 / 1_000_000),
            Finding(
                "store-look", "a look at one of them, CPU time", "ns", look, lookAmongFew, of: "100 credentials"),
        ]
    }

    /// A file with so many credentials, and its key beside it.
    private static func store(of count: Int, in setting: Setting) throws(BenchError) -> String {
        let directory = "\(setting.workspace.path)/store-\(count)"
        try Child.run(["mkdir", "-m", "700", directory])
        _ = try setting.workspace.write(key, to: "store-\(count)/store.key")
        try Child.run(["chmod", "600", "\(directory)/store.key"])
        let edits = (0..<count).map { number in
            StoredCredentials.Edit.set(
                Credential(
                    name: "user", user: "user-\(number)", password: Secret("password \(number)"),
                    persistence: .permanent), for: space(number), asDefault: true)
        }
        let store = try open(directory)
        do throws(StoredCredentials.Failure) { try store.storage.apply(edits) } catch { throw .machine("\(error)") }
        return directory
    }

    private static func open(_ directory: String) throws(BenchError) -> CredentialStore {
        let place = CredentialStore.Place(
            file: "\(directory)/credentials.db", key: .file("\(directory)/store.key"))
        do throws(CredentialStore.Failure) {
            return try place.open(environment: [:], fingerprintKey: { _ in }, report: { Bench.note($0) })
        } catch { throw .machine("\(error)") }
    }

    private static func nanoseconds(
        _ directory: String, of count: Int, in setting: Setting
    ) throws(BenchError) -> Double {
        let storage = try open(directory).storage
        // No more than are kept opened, spread over all.
        let spaces = stride(from: 0, to: count, by: max(1, count / 500)).map { space($0) }
        for space in spaces where storage.defaultCredential(for: space) == nil {
            throw .machine("the store has lost a credential")
        }
        let start = processorTime
        var found = 0
        for look in 0..<looks where storage.defaultCredential(for: spaces[look % spaces.count]) != nil { found += 1 }
        let taken = processorTime - start
        guard found == looks else { throw .machine("the store has lost a credential") }
        return Double(taken) / Double(looks)
    }

    /// The processor time of this thread, in nanoseconds: the work of others does not count.
    private static var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private static func space(_ number: Int) -> ProtectionSpace {
        ProtectionSpace(
            origin: Authentication.Origin(host: "service-\(number).example.com", port: 443, protocol: .https),
            realm: "realm \(number % 50)", authenticationMethod: .basic)
    }
}
