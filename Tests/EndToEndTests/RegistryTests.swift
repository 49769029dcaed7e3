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

    private static func environment() throws -> [String: String] {
        [
            "SSL_CERT_FILE": try Hierarchy.shared().root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
            "CARES_HOSTS": HostsFile.path,
        ]
    }

    private func run(
        _ server: ImageRegistry, _ rules: String? = nil, _ body: (AttacheProcess) throws -> Void
    ) throws {
        var setting = AttacheProcess.Setting(environment: try Self.environment())
        setting.files["store.key"] = String(repeating: "7", count: 64) + "\n"
        try AttacheProcess.running(rules ?? Self.rules("registry \(server.tokenServer)"), setting: setting, body)
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

    /// Begins so many requests at once.
    private func requests(
        _ count: Int, _ path: String, _ server: ImageRegistry, through proxy: AttacheProcess
    ) throws -> Parallel {
        try Parallel(
            count, "https://\(server.authority)\(path)", through: proxy,
            options: ["--cacert", try proxy.exportedAuthority()])
    }

    @Test func `100 pulls at once get one token`() throws {
        let server = try ImageRegistry()
        try run(server) { proxy throws in
            let app = "docker://\(server.authority)/team/app:1"
            let pushed = try server.run("skopeo", ["copy", try server.image(), app], through: proxy)
            #expect(pushed.succeeded, "\(pushed)")
            let before = server.asked.count
            try run(server) { fresh throws in
                let requests = try self.requests(100, "/v2/team/app/tags/list", server, through: fresh)
                #expect(requests.statuses() == Array(repeating: 200, count: 100))
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
            let requests = try self.requests(64, "/v2/team/app/manifests/1", server, through: proxy)
            #expect(requests.statuses() == Array(repeating: 401, count: 64))
            #expect(server.asked == ["builder repository:team/app:pull"])
        }
    }

    @Test func `a wrong password is sent once, by 3 replicas with 64 clients each`() throws {
        let (server, cluster) = (try ImageRegistry(password: "another"), try PostgreSQLCluster())
        let rules =
            "store postgresql \"\(cluster.info)\" { key file @/store.key }\n"
            + Self.rules("registry \(server.tokenServer)")
        func running(_ proxies: [AttacheProcess], _ body: ([AttacheProcess]) throws -> Void) throws {
            if proxies.count == 3 { return try body(proxies) }
            try run(server, rules) { try running(proxies + [$0], body) }
        }
        try running([]) { proxies throws in
            for resource in ["manifests/1", "tags/list"] {
                // Each asks for another token with that password.
                let requests = try proxies.enumerated().map { number, proxy in
                    try self.requests(64, "/v2/team/app-\(number)/\(resource)", server, through: proxy)
                }
                for request in requests { #expect(request.statuses() == Array(repeating: 401, count: 64)) }
            }
            #expect(server.asked.count == 1, "\(server.asked)")
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

    /// The upload lasts for four lives of a token, and each of its parts for more than one.
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
            try Scratch.write(String(repeating: "x", count: 52_000), to: part)
            let type = ["-H", "Content-Type: application/octet-stream"]
            for _ in 1...3 {
                let sent = try send("PATCH", place, type + ["--data-binary", "@\(part)", "--limit-rate", "20k"])
                #expect(sent.status == 202)
                place = sent["Location"] ?? ""
            }
            let sum = try Finished.run("sh", ["-c", "cat \(part) \(part) \(part) | sha256sum"])
            let digest = "sha256:\(sum.output.prefix(64))"
            #expect(try send("PUT", place + "&digest=\(digest)", ["-d", ""]).status == 201)
            #expect(try send("GET", "https://\(server.authority)/v2/team/app/blobs/\(digest)", []).status == 200)
            let records = try records(of: proxy, until: "GET", digest)
            #expect(records.allSatisfy { $0.status != 401 })
            #expect(server.asked.count > 3, "\(server.asked)")
        }
    }

    @Test func `oras pushes and pulls`() throws {
        let server = try ImageRegistry()
        let packages = try PythonPackages.imagesEnvironment()
        let folder = Scratch.folder("oras")
        try Scratch.write("of an artifact", to: folder + "/content.txt")
        try run(server) { proxy throws in
            let script = """
                import sys, oras.client
                client = oras.client.OrasClient(hostname=sys.argv[1])
                target = sys.argv[1] + "/team/artifact:1"
                client.push(target=target, files=["content.txt"])
                print(open(client.pull(target=target, outdir="pulled")[0]).read())
                """
            let authority = ["HTTPS_PROXY": proxy.address, "REQUESTS_CA_BUNDLE": try proxy.exportedAuthority()]
            let done = try Finished.run(
                "python3", ["-c", script, server.authority], environment: packages.merging(authority) { $1 },
                directory: folder, seconds: 60)
            #expect(done.succeeded && done.output.hasSuffix("of an artifact\n"), "\(done)")
            #expect(try records(of: proxy, until: "PUT", "/team/artifact/manifests/1").allSatisfy { $0.status != 401 })
            #expect(server.asked.count == Set(server.asked).count, "\(server.asked)")
        }
    }

    // MARK: - Commands

    @Test func `explain shows the token server that the registry names, and whether it gets the password`() throws {
        let server = try ImageRegistry()
        let tags = "https://\(server.authority)/v2/team/app/tags/list"
        let explain = { (words: [String], proxy: AttacheProcess) throws in
            let run = try Finished.run(
                AttacheBinary.path, ["explain", "--config", "proxy.conf"] + words,
                environment: try Self.environment(), directory: proxy.folder, seconds: 60)
            #expect(run.succeeded, "\(run)")
            return run.output
        }
        let named = "registry \(server.tokenServer)"
        try run(server, Self.rules(named, scope: "; scope repository:team/*:pull")) { proxy throws in
            let asked = try explain(["--ask", tags], proxy)
            for line in [
                "asked          the origin answers 401: Bearer realm=\"\(server.tokenServer)\",service=\"images\",",
                "token server   \(server.tokenServer), which gets user and password of credential images\n",
                "scopes         repository:team/app:pull\n",
            ] {
                #expect(asked.contains("  \(line)"), "\(line)\n\(asked)")
            }
            // The registry wants what is expected of it.
            let expected = try explain(["POST", "https://\(server.authority)/v2/team/app/blobs/uploads/"], proxy)
            #expect(expected.contains(",scope=\"repository:team/app:pull,push\"\n"), "\(expected)")
            #expect(expected.contains("left out       push on team/app: not in 'scope'"), "\(expected)")
            let sent = try Curl.fetch(
                "https://\(server.authority)/v2/team/app/blobs/uploads/",
                ["-x", proxy.address, "--cacert", try proxy.exportedAuthority(), "-d", ""])
            #expect(sent["WWW-Authenticate"]?.contains("push") == true, "\(sent)")
        }
        let before = server.asked.count
        try run(server, Self.rules("registry https://other.example/token")) { proxy throws in
            let asked = try explain(["--ask", tags], proxy)
            #expect(asked.contains("token          none is requested: \(ImageRegistry.host) names"), "\(asked)")
            #expect(asked.contains("to allow it    write 'registry \"\(server.tokenServer)\"'"), "\(asked)")
        }
        try run(server, "route \(ImageRegistry.host) { intercept }") { proxy throws in
            let asked = try explain(["--ask", tags], proxy)
            #expect(asked.contains("token server   \(server.tokenServer), which no credential"), "\(asked)")
            #expect(asked.contains("to allow it    write 'registry \"\(server.tokenServer)\"'"), "\(asked)")
        }
        #expect(server.asked.count == before)
    }

    @Test func `init recognises a registry, asks who gets the password, and notices a wrong one`() throws {
        let server = try ImageRegistry()
        let url = "https://\(server.authority)/"
        let (unsure, wrong, person) = (
            try Beginner(environment: try Self.environment()),
            try Beginner("mistyped", environment: try Self.environment()),
            try Beginner(environment: try Self.environment())
        )
        let asked = try unsure.begin(url, "--intercept", user: ImageRegistry.user)
        #expect(!asked.succeeded && asked.errorOutput.contains("use --registry \(server.tokenServer)"), "\(asked)")
        let other = try unsure.begin(
            url, "--intercept", "--registry", "https://other.example/token", user: ImageRegistry.user)
        #expect(!other.succeeded && other.errorOutput.contains("names the token server \(server.tokenServer)"))
        #expect(server.asked.isEmpty)

        let refused = try wrong.begin(
            url, "--intercept", "--registry", server.tokenServer, user: ImageRegistry.user)
        #expect(!refused.succeeded && refused.errorOutput.contains("(status 401: wrong password)"), "\(refused)")
        #expect(server.asked.count == 1 && wrong.files.isEmpty && unsure.files.isEmpty)

        let begun = try person.type(
            ["init", "--intercept", url],
            answering: [
                ("Is your password for \(server.tokenServer)? (yes or no) ", "yes"), ("User: ", ImageRegistry.user),
                ("Password: ", Account.password),
            ])
        #expect(begun.succeeded && begun.output.contains("the server accepts 'builder'"), "\(begun)")
        #expect(Scratch.read(person.rules).contains("; registry \"\(server.tokenServer)\" }"), "\(begun)")
        try person.running("\(AttacheBinary.path) run") {
            let tags = "https://\(server.authority)/v2/team/app/tags/list"
            let shell = try person.shell(
                "eval \"$(\(AttacheBinary.path) env)\" && curl -qsS -o /dev/null -w '%{http_code}' \(tags)")
            // The repository is empty.
            #expect(shell.output == "404", "\(shell)")
        }
    }
}
