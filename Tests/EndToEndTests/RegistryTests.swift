import Foundation
import TestSupport
import Testing

/// A registry with token authentication, and tools of containers that know the proxy and no login.
@Suite(.enabled(if: ImageRegistry.isInstalled)) struct RegistryTests {
    private static func rules(_ registry: String, scope: String = "") -> String {
        """
        credential images { user \(ImageRegistry.user); password file @/password; \(registry)\(scope) }
        challenge "images" { host \(ImageRegistry.host); secure yes; use images }
        route \(ImageRegistry.host) { intercept }

        """
    }

    private func run(
        _ server: ImageRegistry, _ rules: String? = nil, _ body: (AttacheProcess) throws -> Void
    ) throws {
        let environment = [
            "SSL_CERT_FILE": try Hierarchy.shared().root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
            "CARES_HOSTS": HostsFile.path,
        ]
        let rules = rules ?? Self.rules("registry \(server.tokenServer)")
        try AttacheProcess.running(rules, setting: .init(environment: environment), body)
    }

    /// The access log, once it has a request with that method for a target with that end.
    private func records(
        of proxy: AttacheProcess, until method: String, _ end: String
    ) throws -> [AccessRecord] {
        var records: [AccessRecord] = []
        let isThere = Wait.until {
            records = (try? proxy.records()) ?? []
            return records.contains { $0["method"] == method && $0["target"]?.hasSuffix(end) ?? false }
        }
        #expect(isThere)
        return records
    }

    @Test func `skopeo pushes, pulls and mounts across repositories`() throws {
        let server = try ImageRegistry()
        try run(server) { proxy throws in
            let (app, other) = ("docker://\(server.authority)/team/app:1", "docker://\(server.authority)/team/other:1")
            for words in [[try server.image(), app], [app, "dir:" + Scratch.folder("pulled")], [app, other]] {
                let copied = try server.run("skopeo", ["copy"] + words, through: proxy)
                #expect(copied.succeeded, "\(copied)")
            }
            let records = try records(of: proxy, until: "PUT", "/team/other/manifests/1")
            #expect(records.allSatisfy { $0.status != 401 })
            let mounts = records.filter { $0["target"]?.contains("mount=") ?? false }
            #expect(mounts.map(\.status) == [201])
            // One token for each set of scopes.
            #expect(server.asked.count == Set(server.asked).count, "\(server.asked)")
            #expect(
                server.asked.contains("builder repository:team/app:pull repository:team/other:pull,push"),
                "\(server.asked)")
        }
    }

    @Test(arguments: ["buildah", "podman"])
    func `builders push and pull`(tool: String) throws {
        guard (try? Spawn.executable(tool)) != nil else { return }
        let server = try ImageRegistry()
        try run(server) { proxy throws in
            let (app, copy) = ("\(server.authority)/team/app:1", "docker://\(server.authority)/team/copy:1")
            let pushed = try server.run("skopeo", ["copy", try server.image(), "docker://" + app], through: proxy)
            #expect(pushed.succeeded, "\(pushed)")
            for words in [["pull", "-q", "docker://" + app], ["push", "-q", app, copy]] {
                let done = try server.run(tool, words, through: proxy)
                #expect(done.succeeded, "\(done)")
            }
            #expect(try records(of: proxy, until: "PUT", "/team/copy/manifests/1").allSatisfy { $0.status != 401 })
            #expect(server.asked.count == Set(server.asked).count, "\(server.asked)")
        }
    }

    /// Fetches URLs of the registry at once, and returns the statuses.
    private func fetch(_ path: String, count: Int, _ server: ImageRegistry, _ proxy: AttacheProcess) throws -> [Int] {
        let urls = Array(repeating: "https://\(server.authority)\(path)", count: count)
        let fetched = try Finished.run(
            "curl",
            [
                "-q", "-sS", "-Z", "--parallel-immediate", "--parallel-max", "100", "-x", proxy.address, "--cacert",
                try proxy.exportedAuthority(), "-w", "%{stderr}status %{http_code}\n",
            ] + urls)
        // Behind curl's progress meter.
        return fetched.errorOutput.split(separator: "status ").dropFirst().compactMap { Int($0.prefix(3)) }
    }

    @Test func `100 pulls at once get one token`() throws {
        let server = try ImageRegistry()
        try run(server) { proxy throws in
            let app = "docker://\(server.authority)/team/app:1"
            let pushed = try server.run("skopeo", ["copy", try server.image(), app], through: proxy)
            #expect(pushed.succeeded, "\(pushed)")
            let before = server.asked.count
            try run(server) { fresh throws in
                #expect(
                    try fetch("/v2/team/app/tags/list", count: 100, server, fresh)
                        == Array(repeating: 200, count: 100))
                #expect(server.asked.dropFirst(before) == ["builder repository:team/app:pull"])
            }
        }
    }

    @Test func `without its URL in the rule file a token server on another host gets nothing, and the line helps`()
        throws
    {
        let server = try ImageRegistry()
        try run(server, Self.rules("registry")) { proxy throws in
            let tags = "https://\(server.authority)/v2/team/app/tags/list"
            let options = ["--cacert", try proxy.exportedAuthority()]
            let fetched = try Curl.fetch(tags, ["-x", proxy.address] + options)
            #expect(fetched.status == 401)
            let reason = fetched["Proxy-Status"] ?? ""
            #expect(reason.contains("names the token server \(server.tokenServer)"), "\(reason)")
            #expect(server.asked.isEmpty)
            let journal = try AttacheBinary.run("challenges", "--config", proxy.folder + "/proxy.conf")
            #expect(journal.output.contains(server.tokenServer), "\(journal)")
            try proxy.reload(Self.rules("registry \(server.tokenServer)"))
            // The repository is empty.
            #expect(try Curl.fetch(tags, ["-x", proxy.address] + options).status == 404)
            #expect(server.asked == ["builder repository:team/app:pull"])
        }
    }

    @Test func `a wrong password is sent once, by 64 clients`() throws {
        let server = try ImageRegistry(password: "another")
        try run(server) { proxy throws in
            #expect(
                try fetch("/v2/team/app/manifests/1", count: 64, server, proxy) == Array(repeating: 401, count: 64))
            #expect(server.asked == ["builder repository:team/app:pull"])
        }
    }

    @Test func `a push beyond the rule file's scope gets the reason, and asks for no push`() throws {
        let server = try ImageRegistry()
        try run(server, Self.rules("registry \(server.tokenServer)", scope: "; scope repository:team/*:pull")) {
            proxy throws in
            let app = "docker://\(server.authority)/team/app:1"
            let pushed = try server.run("skopeo", ["copy", try server.image(), app], through: proxy)
            #expect(!pushed.succeeded)
            #expect(!server.asked.contains { $0.contains("push") }, "\(server.asked)")
            let journal = try AttacheBinary.run("challenges", "--config", proxy.folder + "/proxy.conf")
            #expect(journal.output.contains("wants push on team/app, which the rule file does not allow"), "\(journal)")
        }
    }

    /// The parts of an upload take longer than the tokens live.
    @Test func `an upload outlives its tokens`() throws {
        let server = try ImageRegistry(lifetime: 2)
        try run(server) { proxy throws in
            let authority = try proxy.exportedAuthority()
            let send = { (method: String, url: String, options: [String]) throws in
                try Curl.fetch(url, ["-x", proxy.address, "--cacert", authority, "-X", method] + options)
            }
            let begun = try send("POST", "https://\(server.authority)/v2/team/app/blobs/uploads/", ["-d", ""])
            #expect(begun.status == 202)
            var place = begun["Location"] ?? ""
            let part = Scratch.folder("part") + "/part"
            try Scratch.write(String(repeating: "x", count: 60_000), to: part)
            let type = ["-H", "Content-Type: application/octet-stream"]
            for _ in 1...2 {
                let sent = try send("PATCH", place, type + ["--data-binary", "@\(part)", "--limit-rate", "20k"])
                #expect(sent.status == 202)
                place = sent["Location"] ?? ""
            }
            #expect(server.asked.count > 1)
        }
    }
}
