import Foundation
import TestSupport
import Testing

/// Ticket caches that are no files: collections in a directory, in the kernel's keyrings, and in a daemon.
struct TicketCacheTests {
    private static let hasKeyrings: Bool = {
        let name = "KEYRING:process:attache-test"
        guard let realm = try? KerberosRealm.shared() else { return false }
        return (try? kinit("alice", in: name, realm, realm.environment)) != nil
    }()

    private static func kinit(
        _ user: String, in cache: String, _ realm: KerberosRealm, _ environment: [String: String]
    ) throws {
        let run = try Finished.run(
            "kinit", ["-l", "1h", "-k", "-t", realm.keytab(user), "-c", cache, realm.principal(user)],
            environment: environment)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
    }

    /// Asks the server for the page, which only that user may read, with the user's tickets in the cache.
    private func ask(
        _ page: String, as user: String, by cache: String, _ environment: [String: String], _ words: String = ""
    ) throws {
        let server = try KerberosServer.shared()
        let rules = """
            credential svc { kerberos \(server.realm.principal(user)); ccache \(cache) }
            challenge { host localhost; method negotiate; use svc }
            """
        try AttacheProcess.running(rules, setting: .init(environment: environment)) { proxy throws in
            let fetched = try proxy.get(server.url(page))
            #expect(fetched.status == (words.isEmpty ? 200 : 502), "\(cache): \(fetched)")
            #expect(words.isEmpty || fetched.text.contains(words), "\(cache): \(fetched)")
        }
    }

    /// The primary cache of each collection is alice's.
    private func expectBoth(
        _ names: (collection: String, alice: String, bob: String), _ environment: [String: String]
    ) throws {
        let realm = try KerberosRealm.shared()
        try Self.kinit("alice", in: names.alice, realm, environment)
        try Self.kinit("bob", in: names.bob, realm, environment)
        try ask("/request/", as: "alice", by: names.collection, environment)
        try ask("/bob/", as: "bob", by: names.collection, environment)
        try ask("/bob/", as: "bob", by: names.bob, environment)
    }

    @Test func `a directory of caches is a collection, in which each principal has its own`() throws {
        let (folder, environment) = (Scratch.folder("caches"), try KerberosRealm.shared().environment)
        try expectBoth(
            ("DIR:\(folder)", "DIR::\(folder)/tkt", "DIR::\(folder)/tktbob"), environment)
        let none = folder + "/none"
        try ask("/bob/", as: "bob", by: "DIR:\(none)", environment, "there is no directory \(none)")
        try ask("/bob/", as: "bob", by: "DIR::\(none)/tkt", environment, "there is no directory \(none)")
        #expect(access(none, F_OK) != 0, "the proxy has made the directory")
    }

    @Test func `a principal without a cache in the collection is told whose it is`() throws {
        let (folder, environment) = (Scratch.folder("caches"), try KerberosRealm.shared().environment)
        let realm = try KerberosRealm.shared()
        try Self.kinit("alice", in: "DIR::\(folder)/tkt", realm, environment)
        let words = "is \(realm.principal("alice"))'s, not \(realm.principal("bob"))'s"
        try ask("/bob/", as: "bob", by: "DIR:\(folder)", environment, words)
    }

    @Test(
        .enabled(if: hasKeyrings, "the kernel gives no keyrings here"),
        arguments: ["KEYRING:user:", "KEYRING:persistent:\(getuid()):"])
    func `the caches of a keyring are a collection`(prefix: String) throws {
        let mark = "attache-\(ApacheServer.mark())"
        let environment = try KerberosRealm.shared().environment
        let isUser = prefix == "KEYRING:user:"
        let names =
            isUser
            ? ("\(prefix)\(mark)", "\(prefix)\(mark):alice", "\(prefix)\(mark):bob")
            : (String(prefix.dropLast()), prefix + mark + "a", prefix + mark + "b")
        defer {
            for name in [names.1, names.2] {
                _ = try? Finished.run("kdestroy", ["-q", "-c", name], environment: environment)
            }
        }
        try expectBoth(names, environment)
        try ask("/bob/", as: "bob", by: "KEYRING:user:\(mark)none", environment, "cannot be read")
    }

    @Test(.enabled(if: TicketDaemon.isPossible, "there is no KCM daemon, or no mount name space for it"))
    func `the caches of a KCM daemon are a collection`() throws {
        let realm = try KerberosRealm.shared()
        var environment = realm.environment
        try ask("/request/", as: "alice", by: "KCM:", environment, "no KCM server found")
        let daemon = try TicketDaemon(for: realm)
        environment["KRB5_CONFIG"] = daemon.configurationPath
        let user = getuid()
        try expectBoth(("KCM:", "KCM:\(user):alice", "KCM:\(user):bob"), environment)
        withExtendedLifetime(daemon) {}
    }
}
