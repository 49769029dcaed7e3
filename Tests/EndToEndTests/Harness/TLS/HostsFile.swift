/// Every name of the tests at 127.0.0.1, for a proxy's `CARES_HOSTS`.
enum HostsFile {
    /// Names beside those of the specimens.
    static let others = [
        "other", "elsewhere", "apache", "client", "relay", "nowhere", "front", "client-refusing", "h2",
        "registry",
    ].map {
        $0 + ".example.test"
    }

    static let path: String = {
        let path = Scratch.root + "/hosts"
        let names = Set(Specimen.all.map(\.host) + others).subtracting(["127.0.0.1"]).sorted()
        // One name a line: c-ares stops at a long one.
        do { try Scratch.write(names.map { "127.0.0.1 \($0)\n" }.joined(), to: path) } catch { fatalError("\(error)") }
        return path
    }()
}
