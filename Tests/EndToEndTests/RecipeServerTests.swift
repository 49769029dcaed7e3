import Foundation
import TestSupport
import Testing

/// The rule files of `attache help recipe-…` against real servers. Names, ports and paths are those of the test; all else
/// is as the manual has it.
struct RecipeServerTests {
    /// Runs a proxy with the rules of the page.
    ///
    /// - Parameters:
    ///   - names: the replacements of the page's names. The address, the state and the log are those of the test.
    ///   - more: rules before them.
    private func running(
        _ page: String, _ names: [String: String], more: String = "", setting: AttacheProcess.Setting = .init(),
        _ body: (AttacheProcess) throws -> Void
    ) throws {
        let run = try Finished.run(AttacheBinary.path, ["help", page])
        let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0 == "    listen 127.0.0.1:3128" })
        let own = ["admin ", "state ", "log "]
        var rules = lines[(start + 1)...].prefix { !$0.isEmpty }.map { $0.dropFirst(4) }
            .filter { line in !own.contains { line.hasPrefix($0) } }.joined(separator: "\n")
        for (name, replacement) in names {
            #expect(rules.contains(name), "\(name)")
            rules = rules.replacing(name, with: replacement)
        }
        try AttacheProcess.visitingHosts(rules, more: more, setting: setting, body)
    }

    private static func isInstalled(_ tool: String) -> Bool { (try? Spawn.executable(tool)) != nil }

    @Test(.enabled(if: isInstalled("prometheus")))
    func `Prometheus scrapes a target with Digest`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        try Scratch.write("sample_total 7\n", to: "\(apache.documents)/digest/\(mark)")
        let names = [
            "*.dev.example.com; port 9100": "127.0.0.1; port \(apache.port)", "user prometheus": "user \(Account.user)",
            "/etc/attache/scrape.password": "@/password", "/etc/attache/windows.password": "@/password",
        ]
        try running("recipe-prometheus", names) { proxy throws in
            let (folder, port) = (Scratch.folder("prometheus"), FreePort.take())
            try Scratch.write(
                """
                global: { scrape_interval: 200ms }
                scrape_configs:
                  - job_name: appliances
                    metrics_path: /digest/\(mark)
                    proxy_url: \(proxy.address)
                    static_configs: [{targets: ["127.0.0.1:\(apache.port)"]}]

                """, to: folder + "/prometheus.yml")
            let child = try Subprocess(
                "prometheus",
                [
                    "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/data",
                    "--web.listen-address=127.0.0.1:\(port)",
                ], directory: folder)
            defer { _ = child.kill() }
            try Socket.awaitListener(on: port, of: child)
            let isUp = try Wait.until {
                try Curl.fetch("http://127.0.0.1:\(port)/api/v1/query?query=sample_total").text.contains("\"7\"")
            }
            #expect(isUp, "\(child.errorOutput) \(proxy.errorOutput)")
        }
    }

    @Test func `a windows exporter is read by NTLM`() throws {
        let server = try NTLMServer.shared()
        let names = [
            "*.win.example.com; port 9182": "127.0.0.1; port \(server.port)",
            "CORP\\\\prometheus": "NTDOM\\\\alice", "/etc/attache/windows.password": "@/password",
            "/etc/attache/scrape.password": "@/password",
        ]
        let setting = AttacheProcess.Setting(files: ["password": Account.ntlmPasswords["alice"] ?? ""])
        try running("recipe-prometheus", names, setting: setting) { proxy throws in
            let fetched = try proxy.get(server.url())
            #expect(fetched.status == 200 && fetched[NTLMServer.userField] == "NTDOM\\alice", "\(fetched)")
        }
    }

    /// A camera with Digest by SHA-256; the client knows no Digest.
    @Test func `a snapshot of a camera needs no password`() throws {
        let camera = try LighttpdServer.shared()
        let names = [
            "host cam*.example.com; method digest": "host 127.0.0.1; method digest",
            "user viewer": "user \(Account.user)", "/etc/attache/camera.password": "@/password",
        ]
        try running("recipe-camera", names) { proxy throws in
            let script = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).status)"
            let run = try Finished.run(
                "python3", ["-c", script, camera.url("/sha256/")],
                environment: ["http_proxy": proxy.address, "no_proxy": ""])
            #expect(run.output == "200\n", "\(run) \(proxy.errorOutput)")
        }
    }

    /// Python 3's urllib and Perl replace Python 2, which Debian 12 does not have.
    @Test(arguments: [
        "python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end=\"\")' $URL",
        "perl -MHTTP::Tiny -e 'print HTTP::Tiny->new->get($ARGV[0])->{content}' $URL",
        "java -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=$PORT Fetch.java $URL",
    ])
    func `a program that knows no Digest reads a service with TLS by http`(command: String) throws {
        let tool = command.split(separator: " ").first.map(String.init) ?? ""
        guard Self.isInstalled(tool), tool != "java" || Self.isInstalled("javac") else { return }
        let apache = try ApacheServer.shared()
        let names = [
            "api.corp.example.com": ApacheServer.secureHost, "*.corp.example.com { upgrade }": "*.test { upgrade }",
            "user app": "user \(Account.user)", "/etc/attache/app.password": "@/password",
            "/etc/attache/app.keytab": "@/keytab",
        ]
        try running("recipe-language", names) { proxy throws in
            let folder = Scratch.folder("language")
            try Scratch.write(
                """
                public class Fetch {
                    public static void main(String[] urls) throws Exception {
                        System.out.print(new String(
                            new java.net.URL(urls[0]).openConnection().getInputStream().readAllBytes()));
                    }
                }
                """, to: folder + "/Fetch.java")
            let run = try Finished.run(
                "sh", ["-c", command],
                environment: [
                    "http_proxy": proxy.address, "PORT": "\(proxy.port)",
                    "URL": "http://\(ApacheServer.secureHost):\(apache.securePorts.three)/digest/",
                ], directory: folder)
            #expect(run.output == "this is digest\n", "\(run) \(proxy.errorOutput)")
        }
    }

    private func behindParent(_ body: (AttacheProcess) throws -> Void) throws {
        let parent = try SquidServer.shared(.ntlm)
        let names = [
            "proxy.corp.example.com:8080; except 10.0.0.0/8 *.corp.example.com": "127.0.0.1:\(parent.port)",
            "host proxy.corp.example.com": "host 127.0.0.1", "/etc/attache/corp.password": "@/password",
        ]
        let origin = """
            credential web { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; method basic digest; use web }
            """
        try running("recipe-build", names, more: origin, body)
    }

    @Test func `apt and pip download behind an NTLM parent`() throws {
        let apache = try ApacheServer.shared()
        try behindParent { proxy throws in
            let repository = try AptRepository(ApacheServer.mark(), packages: 2, at: apache, proxy: proxy.address)
            #expect(try repository.update().succeeded, "\(proxy.errorOutput)")
            let (run, contents) = try repository.download()
            #expect(contents == repository.packages.map { "the content of \($0)\n" }, "\(run)")
            let index = try PythonIndex(ApacheServer.mark(), at: apache)
            let folder = Scratch.folder("pip")
            let pip = try index.pip(["download", "-d", folder], through: proxy.address)
            #expect(pip.succeeded, "\(pip)")
            let records = try proxy.records(atLeast: 4)
            #expect(records.allSatisfy { $0["parent"]?.hasPrefix("corp ") == true }, "\(records)")
            #expect(records.contains { $0["parent_scheme"] == "ntlm" })
        }
    }

    @Test func `git clones an https URL, and has no token`() throws {
        let apache = try ApacheServer.shared()
        let name = ApacheServer.mark()
        _ = try GitRepository(name, at: apache)
        let names = [
            "git.example.com": ApacheServer.secureHost, "user ci-bot": "user \(Account.user)",
            "/etc/attache/git.token": "@/password", "method basic;": "method basic digest;",
        ]
        try running("recipe-git", names) { proxy throws in
            let folder = Scratch.folder("clone")
            let server = "\(ApacheServer.secureHost):\(apache.securePorts.three)"
            let run = try GitRepository.git(
                [
                    "-c", "http.proxy=\(proxy.address)", "-c", "url.http://\(server)/.insteadOf=https://\(server)/",
                    "clone", "-q", "https://\(server)/git/\(name)", "copy",
                ], directory: folder)
            #expect(run.succeeded, "\(run) \(proxy.errorOutput)")
            #expect(Scratch.read(folder + "/copy/file") == GitRepository.text)
            #expect(try proxy.get("http://other.example.test/").status == 403)
        }
    }

    /// curl sends the request of WinRM to Apache with NTLM: there is no Windows here.
    @Test func `a WinRM request is answered by NTLM`() throws {
        let server = try NTLMServer.shared()
        let names = [
            "*.srv.corp.example.com; port 5986": "127.0.0.1; port \(server.port)",
            "route *.srv.corp.example.com { upgrade 5986 }": "", "CORP\\\\automation": "NTDOM\\\\alice",
            "/etc/attache/domain.password": "@/password", "/etc/attache/automation.keytab": "@/keytab",
        ]
        let setting = AttacheProcess.Setting(files: ["password": Account.ntlmPasswords["alice"] ?? ""])
        try running("recipe-windows", names, setting: setting) { proxy throws in
            let fetched = try proxy.get(
                server.url(), "-H", "Content-Type: application/soap+xml;charset=UTF-8", "-d", "<s:Envelope/>", "-X",
                "GET")
            #expect(fetched.status == 200 && fetched[NTLMServer.userField] == "NTDOM\\alice", "\(fetched)")
        }
    }

    @Test func `a container logs in with a keytab alone`() throws {
        let server = try KerberosServer.shared()
        let names = [
            "svc@CORP.EXAMPLE.COM": server.realm.principal("alice"),
            "/run/secrets/svc.keytab": server.realm.keytab("alice"), "host *.corp.example.com": "host localhost",
            "route *.corp.example.com { upgrade }": "",
        ]
        try running("recipe-kerberos", names, setting: .init(environment: server.realm.environment)) { proxy throws in
            #expect(try proxy.get(server.url("/request/")).status == 200, "\(proxy.errorOutput)")
        }
    }

    /// The model's server is one that notes what it gets.
    @Test func `an agent reaches what it may, with a key that it never sees`() throws {
        let model = try RecordingOrigin.answering()
        let names = [
            "host api.example.com; method bearer; secure yes": "host 127.0.0.1; method bearer; secure no",
            "route api.example.com { upgrade }": "route 127.0.0.1 { tunnel }",
            "/etc/attache/model.key": "@/password", "/etc/attache/git.token": "@/password",
        ]
        try running("recipe-agent", names) { proxy throws in
            let fetched = try proxy.get(model.url("/v1/models"))
            #expect(fetched.status == 200, "\(fetched)")
            #expect(model.messages.last?["Authorization"] == "Bearer \(Account.password)")
            #expect(try proxy.get("http://elsewhere.example.test/").status == 403)
        }
    }
}

extension AttacheProcess {
    /// Runs a proxy that knows the hosts of the tests, and trusts their certificates.
    fileprivate static func visitingHosts(
        _ rules: String, more: String, setting: Setting, _ body: (AttacheProcess) throws -> Void
    ) throws {
        var setting = setting
        setting.environment["SSL_CERT_FILE"] = try Hierarchy.shared().root.certificate
        setting.environment["CARES_HOSTS"] = HostsFile.path
        try running(more + "\n" + rules, setting: setting, body)
    }
}
