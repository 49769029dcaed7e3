import Foundation
import TestSupport
import Testing

/// Clients of other projects that send a placeholder, and the servers that get the credential.
struct PlaceholderTests {
    private static let key = "sk-attache-ai-5f0c3d2e9b7a4168"

    /// Runs a proxy that knows the hosts of the tests, and whose log and messages must not have the secret.
    private func running(_ rules: String, _ body: (AttacheProcess) throws -> Void) throws {
        let environment = [
            "SSL_CERT_FILE": try Hierarchy.shared().root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
            "CARES_HOSTS": HostsFile.path,
        ]
        try AttacheProcess.running(rules, setting: .init(environment: environment)) { proxy throws in
            try body(proxy)
            let written = proxy.accessLog + proxy.errorOutput
            #expect(!written.contains(Account.password))
        }
    }

    /// The response of a model's server in the form of either vendor.
    private static let completion = """
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "stop", \
        "message": {"role": "assistant", "content": "hello"}}], "type": "message", "role": "assistant", \
        "content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}
        """

    private static let vendors: [(name: String, script: String)] = [
        (
            "openai",
            """
            import sys, openai
            client = openai.OpenAI(api_key=sys.argv[2], base_url=sys.argv[1] + "/v1", max_retries=0)
            print(client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}]).choices[0].message.content)
            """
        ),
        (
            "anthropic",
            """
            import sys, anthropic
            client = anthropic.Anthropic(api_key=sys.argv[2], base_url=sys.argv[1], max_retries=0)
            print(client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]).content[0].text)
            """
        ),
    ]

    @Test(arguments: vendors.indices)
    func `the SDK of a vendor works with a placeholder, and its own key is refused`(vendor: Int) throws {
        let script = Self.vendors[vendor].script
        let model = try RecordingOrigin.answering { _, connection in
            try connection.reply("200 OK", ["Content-Type: application/json"], Self.completion)
        }
        let front = try TLSTerminator(to: model.port)
        let rules = """
            credential ai { token file @/password; header X-Api-Key; placeholder \(Self.key) }
            challenge "model" { host \(TLSFront.host); secure yes; use ai; authorization refuse }
            route \(TLSFront.host) { intercept }
            """
        try running(rules) { proxy throws in
            var environment = try PythonPackages.modelEnvironment()
            environment["HTTPS_PROXY"] = proxy.address
            environment["SSL_CERT_FILE"] = try proxy.exportedAuthority()
            let call = { (key: String) throws in
                try Finished.run(
                    "python3", ["-c", script, "https://\(front.authority)", key], environment: environment, seconds: 120
                )
            }
            let served = try call(Self.key)
            #expect(served.output == "hello\n", "\(served)")
            // The SDK chooses the field.
            let sent = model.messages.map { $0["Authorization"] ?? $0["X-Api-Key"] ?? "" }
            #expect(sent == ["Bearer \(Account.password)"] || sent == [Account.password])
            #expect(model.messages.allSatisfy { !"\($0)".contains(Self.key) })
            let own = try call("sk-of-an-attacker")
            #expect(own.errorOutput.contains("PermissionDeniedError"), "\(own)")
            #expect(model.messages.count == 1)
            #expect(!(served.errorOutput + own.output + own.errorOutput).contains(Account.password))
        }
    }

    @Test func `git clones with a placeholder for its password`() throws {
        let name = ApacheServer.mark()
        _ = try GitRepository(name, at: ApacheServer.shared())
        let rules = """
            credential git { user \(Account.user); password file @/password; placeholder \(Self.key) }
            challenge "git" { host \(ApacheServer.secureHost); secure yes; use git; authorization refuse }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let origin = "https://\(ApacheServer.secureHost):\(try ApacheServer.shared().securePorts.three)"
            let folder = Scratch.folder("clone")
            let helper = "credential.helper=!f() { echo username=\(Account.user); echo password=$KEY; }; f"
            let options = [
                "-c", "http.proxy=\(proxy.address)", "-c", "http.sslCAInfo=\(try proxy.exportedAuthority())", "-c",
                helper,
            ]
            let run = try Finished.run(
                "git", options + ["clone", "-q", "\(origin)/git/\(name)", "copy"],
                environment: ["GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "KEY": Self.key],
                directory: folder)
            #expect(run.succeeded, "\(run)")
            #expect(Scratch.read(folder + "/copy/file") == GitRepository.text)
            let isLogged = try Wait.until {
                try proxy.records(atLeast: 2).contains { $0.status == 200 && $0["credential"] == "git" }
            }
            #expect(isLogged, "\(proxy.accessLog)")
            #expect(!(run.output + run.errorOutput + proxy.accessLog + proxy.errorOutput).contains(Account.password))
        }
    }

    @Test(.enabled(if: ImageRegistry.isInstalled))
    func `a registry's client pushes and pulls with a placeholder for its password`() throws {
        let server = try ImageRegistry(asksForPassword: true)
        let rules = """
            credential images { user \(ImageRegistry.user); password file @/password; placeholder \(Self.key) }
            challenge "images" { host \(ImageRegistry.host); secure yes; use images; authorization refuse }
            route \(ImageRegistry.host) { intercept }
            """
        try running(rules) { proxy throws in
            let app = "docker://\(server.authority)/team/app:1"
            let login = "\(ImageRegistry.user):\(Self.key)"
            let pushed = try server.run(
                "skopeo", ["copy", "--dest-creds", login, try server.image(), app], through: proxy)
            #expect(pushed.succeeded, "\(pushed) \(proxy.errorOutput)")
            let pulled = try server.run(
                "skopeo", ["copy", "--src-creds", login, app, "dir:" + Scratch.folder("pulled")], through: proxy)
            #expect(pulled.succeeded, "\(pulled)")
            let own = try server.run(
                "skopeo", ["copy", "--src-creds", "\(ImageRegistry.user):own", app, "dir:" + Scratch.folder("pulled")],
                through: proxy)
            #expect(!own.succeeded)
            #expect(own.errorOutput.contains("403") || own.errorOutput.contains("denied"), "\(own)")
            #expect(!(pushed.errorOutput + pulled.errorOutput + own.errorOutput).contains(Account.password))
        }
    }

    @Test func `twelve misplacements are twelve 403s, and no server hears of them`() throws {
        let origin = try RecordingOrigin.answering()
        let other = try RecordingOrigin.answering()
        let rules = """
            credential ai { token file @/password; header X-Api-Key; placeholder \(Self.key) }
            credential second { token second; placeholder \(Self.key)-2 }
            challenge "model" { host 127.0.0.1; port \(origin.port); use ai }
            challenge "second" { host 127.0.0.1; port \(other.port); use second }
            """
        try running(rules) { proxy throws in
            let bearer = "Authorization: Bearer \(Self.key)"
            let requests: [(url: String, options: [String])] = [
                (other.url(), ["-H", bearer]), ("http://elsewhere.example.test/", ["-H", bearer]),
                (origin.url(), ["-H", "Authorization: Bearer \(Self.key)-2"]),
                (origin.url(), ["-A", Self.key]), (origin.url(), ["-b", "key=\(Self.key)"]),
                (origin.url(), ["-e", "http://h/\(Self.key)"]), (origin.url("/?key=\(Self.key)"), []),
                (origin.url("/\(Self.key)"), []), (origin.url(), ["-H", "Authorization: Token token=\(Self.key)"]),
                (origin.url(), ["-u", "user:x\(Self.key)"]),
                (origin.url(), ["-H", bearer, "-H", "X-Api-Key: \(Self.key)"]),
                (origin.url(), ["-H", bearer, "-X", "TRACE"]),
            ]
            for (url, options) in requests {
                let fetched = try Curl.fetch(url, ["-x", proxy.address] + options)
                #expect(fetched.status == 403, "\(url) \(options): \(fetched)")
                #expect(fetched.text.contains("has a placeholder that is replaced only there"), "\(fetched)")
            }
            let tunnel = try Curl.fetch(
                "https://front.example.test/", ["-x", proxy.address, "-p", "--proxy-header", "X-Api-Key: \(Self.key)"])
            #expect(!tunnel.run.succeeded)
            #expect(origin.requests.isEmpty && other.requests.isEmpty)
            #expect(try proxy.metric("attache_placeholders_misplaced_total") == requests.count + 1)
            let events = try proxy.events().filter { $0["event"] == "placeholder.misplaced" }
            #expect(events.count == requests.count + 1, "\(events.map(\.line))")
            #expect(events.allSatisfy { ["ai", "second"].contains($0["credential"]) && $0["client"] == "127.0.0.1" })
            // In its place it is replaced.
            #expect(try Curl.fetch(origin.url(), ["-x", proxy.address, "-H", bearer]).status == 200)
            #expect(origin.messages.map { $0["Authorization"] } == ["Bearer \(Account.password)"])
        }
    }

    @Test func `the command makes a placeholder that the rule file takes`() throws {
        let rules = Scratch.folder("placeholder") + "/proxy.conf"
        try Scratch.write("clients { allow 127.0.0.0/8 }\n", to: rules)
        for (like, beginning) in [("sk-", "sk-attache-ai-"), ("", "attache-ai-"), ("jwt", "eyJ")] {
            let made = try Finished.run(
                AttacheBinary.path,
                ["credential", "--config", rules, "placeholder", "ai"] + (like.isEmpty ? [] : ["--like", like]))
            #expect(made.succeeded, "\(made)")
            let text = made.output.split(separator: "\n").joined()
            #expect(text.hasPrefix(beginning) && text.contains("attache-ai-"))
            #expect(made.errorOutput.contains("'credential ai' of the rule file: placeholder \(text)"))
            let origin = try RecordingOrigin.answering()
            try running(
                "credential ai { token file @/password; placeholder \(text) }\nchallenge { host 127.0.0.1; use ai }"
            ) { proxy throws in
                let fetched = try Curl.fetch(
                    origin.url(), ["-x", proxy.address, "-H", "Authorization: Bearer \(text)"])
                #expect(fetched.status == 200)
                #expect(origin.messages.last?["Authorization"] == "Bearer \(Account.password)")
            }
        }
    }
}
