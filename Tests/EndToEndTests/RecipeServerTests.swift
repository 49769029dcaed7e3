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

    /// False for a command that is there to say that its program is not.
    private static func works(_ tool: String) -> Bool { (try? Finished.run(tool, ["--version"]).succeeded) == true }

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

    /// The one with a certificate of its own, at `https`.
    @Test func `a camera that signed its certificate itself is known by its pin`() throws {
        let camera = try LighttpdServer.shared()
        let port = FreePort.take()
        let identity = try ServerIdentity(CertificateIssuer.selfSigned(CertificateTerms(host: TLSFront.host)))
        let front = try NginxServer([.init(port: port, name: "camera", identity: identity, origin: camera.port)])
        defer { withExtendedLifetime(front) {} }
        let environment = ["CARES_HOSTS": HostsFile.path, "SSL_CERT_FILE": try Hierarchy.shared().root.certificate]
        let address = "\(TLSFront.host):\(port)"
        let shown = try Finished.run(AttacheBinary.path, ["trust", address], environment: environment)
        let pin = try #require(shown.output.firstMatch(of: #/sha256\/[A-Za-z0-9+\/]{43}=/#), "\(shown)")
        let names = [
            "cam*.example.com": TLSFront.host, "cam7.example.com": TLSFront.host,
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=": String(pin.output),
            "user viewer": "user \(Account.user)", "/etc/attache/camera.password": "@/password",
        ]
        try running("recipe-camera", names) { proxy throws in
            let shot = Scratch.folder("camera") + "/shot.jpg"
            let run = try Finished.run(
                "curl", ["-q", "-sS", "-f", "-x", proxy.address, "-o", shot, "http://\(address)/sha256/"])
            #expect(run.succeeded, "\(run) \(proxy.errorOutput)")
            #expect(!Scratch.read(shot).isEmpty)
        }
    }

    /// Debian 12 has no Python 2.
    @Test(arguments: [
        "python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end=\"\")' $URL",
        "perl -MHTTP::Tiny -e 'print HTTP::Tiny->new->get($ARGV[0])->{content}' $URL",
        "perl -MLWP::UserAgent -e 'print LWP::UserAgent->new(env_proxy => 1)->get($ARGV[0])->content' $URL",
        "python2 -c 'import sys, urllib2; sys.stdout.write(urllib2.urlopen(sys.argv[1]).read())' $URL",
        "java -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=$PORT Fetch.java $URL",
        "java -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=$PORT Modern.java $URL",
    ])
    func `a program that knows no Digest reads a service with TLS by http`(command: String) throws {
        let tool = command.split(separator: " ").first.map(String.init) ?? ""
        guard Self.works(tool), tool != "java" || Self.isInstalled("javac") else { return }
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
            try Scratch.write(
                """
                import java.net.*;
                import java.net.http.*;
                public class Modern {
                    public static void main(String[] urls) throws Exception {
                        HttpClient client = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).build();
                        HttpRequest request = HttpRequest.newBuilder(URI.create(urls[0])).build();
                        System.out.print(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
                    }
                }
                """, to: folder + "/Modern.java")
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

    /// Runs a tool's command in a folder, behind the parent, and expects that it opens tunnels with NTLM.
    private func build(_ command: String, in folder: String, _ environment: [String: String] = [:]) throws {
        try behindParent { proxy throws in
            var environment = environment
            for name in ["http_proxy", "https_proxy"] { environment[name] = proxy.address }
            environment["HOME"] = folder
            environment["JAVA_TOOL_OPTIONS"] =
                "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=\(proxy.port) "
                + (environment["JAVA_TOOL_OPTIONS"] ?? "")
            let run = try Finished.run(
                "sh", ["-ec", command], environment: environment, directory: folder, seconds: 120)
            #expect(run.succeeded, "\(run) \(proxy.errorOutput)")
            let tunnels = try proxy.records(atLeast: 1).filter { $0["method"] == "CONNECT" }
            #expect(tunnels.contains { $0["parent_scheme"] == "ntlm" && $0["status"] == "200" }, "\(proxy.accessLog)")
        }
    }

    /// The URL of a folder of Apache's that clients reach by TLS.
    private func secureURL(_ mark: String) throws -> String {
        "https://\(ApacheServer.secureHost):\(try ApacheServer.shared().securePorts.three)/open/\(mark)"
    }

    /// A project of Maven's of which there is only this file.
    private func project(_ artifact: String, _ content: String = "") -> String {
        """
        <project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
        <groupId>test.attache</groupId><artifactId>\(artifact)</artifactId><version>1.0</version>
        \(content)<packaging>pom</packaging></project>

        """
    }

    /// Runs a command of a tool in Java that downloads `test.attache:base:1.0` from a repository of Apache's.
    private func buildJava(_ command: String, in folder: String, _ mark: String) throws {
        let published = "\(try ApacheServer.shared().documents)/open/\(mark)/test/attache/base/1.0"
        try FileManager.default.createDirectory(atPath: published, withIntermediateDirectories: true)
        try Scratch.write(project("base"), to: published + "/base-1.0.pom")
        let root = try Hierarchy.shared().root.certificate
        try build(
            """
            env -u JAVA_TOOL_OPTIONS keytool -importcert -noprompt -alias root -file \(root) -keystore trust.p12 \
                -storetype PKCS12 -storepass changeit
            \(command)
            """, in: folder,
            [
                "JAVA_TOOL_OPTIONS":
                    "-Djavax.net.ssl.trustStore=\(folder)/trust.p12 -Djavax.net.ssl.trustStorePassword=changeit"
            ])
    }

    @Test(.enabled(if: works("mvn"))) func `Maven downloads behind an NTLM parent`() throws {
        let (mark, folder) = (ApacheServer.mark(), Scratch.folder("maven"))
        let content = """
            <parent><groupId>test.attache</groupId><artifactId>base</artifactId><version>1.0</version><relativePath/></parent>
            <repositories><repository><id>corp</id><url>\(try secureURL(mark))</url></repository></repositories>
            """
        try Scratch.write(project("app", content), to: folder + "/pom.xml")
        try buildJava(
            """
            mvn -B -q validate -Dmaven.repo.local=$PWD/m2
            test -s m2/test/attache/base/1.0/base-1.0.pom
            """, in: folder, mark)
    }

    @Test(.enabled(if: works("gradle"))) func `Gradle downloads behind an NTLM parent`() throws {
        let (mark, folder) = (ApacheServer.mark(), Scratch.folder("gradle"))
        try Scratch.write(
            """
            repositories { maven { url '\(try secureURL(mark))' } }
            configurations { sample }
            dependencies { sample 'test.attache:base:1.0@pom' }
            task fetch(type: Copy) { from configurations.sample; into 'out' }
            """, to: folder + "/build.gradle")
        try buildJava(
            """
            gradle --quiet --no-daemon --gradle-user-home $PWD/home fetch
            test -s out/base-1.0.pom
            """, in: folder, mark)
    }

    @Test(.enabled(if: works("npm"))) func `npm downloads behind an NTLM parent`() throws {
        let (mark, folder) = (ApacheServer.mark(), Scratch.folder("npm"))
        _ = try NodePackage(mark, at: .shared(), below: "open")
        let url = try secureURL(mark) + "/sample.tgz"
        let dependencies = #""dependencies":{"attache-sample":"\#(url)"}"#
        try Scratch.write(#"{"name":"app","version":"1.0.0",\#(dependencies)}"#, to: folder + "/package.json")
        try Scratch.write(
            #"""
            {"name":"app","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
                "":{"name":"app","version":"1.0.0",\#(dependencies)},
                "node_modules/attache-sample":{"version":"1.0.0","resolved":"\#(url)"}}}
            """#, to: folder + "/package-lock.json")
        try build(
            "npm ci --no-audit --no-fund --no-update-notifier && test -s node_modules/attache-sample/index.js",
            in: folder, ["npm_config_cafile": try Hierarchy.shared().root.certificate])
    }

    @Test(.enabled(if: works("terraform"))) func `Terraform downloads behind an NTLM parent`() throws {
        let (mark, folder, apache) = (ApacheServer.mark(), Scratch.folder("terraform"), try ApacheServer.shared())
        let published = "\(apache.documents)/open/\(mark)/registry.terraform.io/corp/thing"
        try FileManager.default.createDirectory(atPath: published, withIntermediateDirectories: true)
        try Scratch.write(#"{"versions":{"1.0.0":{}}}"#, to: published + "/index.json")
        let archive = #"{"url":"thing.zip"}"#
        try Scratch.write(
            #"{"archives":{"linux_amd64":\#(archive),"linux_arm64":\#(archive)}}"#, to: published + "/1.0.0.json")
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], "w") as archive:
                program = zipfile.ZipInfo("terraform-provider-thing_v1.0.0")
                program.external_attr = 0o755 << 16
                archive.writestr(program, "#!/bin/sh\\n")
            """
        let made = try Finished.run("python3", ["-c", script, published + "/thing.zip"])
        #expect(made.succeeded, "\(made)")
        try Scratch.write(
            """
            terraform {
              required_providers {
                thing = {
                  source = "corp/thing"
                }
              }
            }

            """, to: folder + "/main.tf")
        try Scratch.write(
            """
            disable_checkpoint = true
            provider_installation {
              network_mirror {
                url = "\(try secureURL(mark))/"
              }
            }

            """, to: folder + "/terraformrc")
        try build(
            "terraform init -input=false -no-color && test -s .terraform.lock.hcl", in: folder,
            ["TF_CLI_CONFIG_FILE": folder + "/terraformrc", "SSL_CERT_FILE": try Hierarchy.shared().root.certificate])
    }

    @Test func `git clones and pushes to an https URL, as the manual sets it up`() throws {
        let (apache, name, folder) = (try ApacheServer.shared(), ApacheServer.mark(), Scratch.folder("push"))
        try GitRepository.makeEmpty(name, at: apache)
        let server = "\(ApacheServer.secureHost):\(apache.securePorts.three)"
        let names = [
            "git.example.com": ApacheServer.secureHost, "user ci-bot": "user \(Account.user)",
            "/etc/attache/git.token": "@/password",
        ]
        try running("recipe-git", names) { proxy throws in
            let commands = """
                git config --global http.proxy \(proxy.address)
                git config --global url.http://\(server)/.insteadOf https://\(server)/
                git config --global user.name ci && git config --global user.email ci@example.test
                git clone -q https://\(server)/push/\(name) app && cd app && git checkout -q -b main
                echo change > file && git add file && git commit -q -m change && git push -q origin main
                head -c 3000000 /dev/urandom > large && git add large && git commit -q -m large && git push -q origin main
                cd .. && git clone -q https://\(server)/push/\(name) again && cmp app/large again/large
                """
            let run = try Finished.run(
                "sh", ["-ec", commands],
                environment: ["HOME": folder, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"],
                directory: folder)
            #expect(run.succeeded, "\(run) \(proxy.errorOutput)")
            #expect(Scratch.read(folder + "/again/file") == "change\n")
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

    /// pywinrm asks an Apache with NTLM for a shell: there is no Windows here.
    @Test(arguments: ["basic", "plaintext"]) func `pywinrm opens a shell with NTLM`(transport: String) throws {
        let server = try NTLMServer.shared()
        let names = [
            "*.srv.corp.example.com; port 5986": "127.0.0.1; port \(server.port)",
            "route *.srv.corp.example.com { upgrade 5986 }": "", "CORP\\\\automation": "NTDOM\\\\alice",
            "/etc/attache/domain.password": "@/password", "/etc/attache/automation.keytab": "@/keytab",
        ]
        let setting = AttacheProcess.Setting(files: ["password": Account.ntlmPasswords["alice"] ?? ""])
        try running("recipe-windows", names, setting: setting) { proxy throws in
            let script = """
                import sys
                from winrm.protocol import Protocol
                server, transport, proxy = sys.argv[1:]
                print(Protocol(server, transport=transport, username="any", password="any", proxy=proxy).open_shell())
                """
            let run = try Finished.run(
                "python3", ["-c", script, server.url("/ntlm/wsman.cgi"), transport, proxy.address],
                environment: PythonPackages.windowsEnvironment())
            #expect(run.output == "NTDOM\\alice\n", "\(run) \(proxy.errorOutput)")
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
            "host api.example.com; secure yes": "host 127.0.0.1; secure no",
            "route api.example.com { intercept }": "route 127.0.0.1 { tunnel }",
            "/etc/attache/model.key": "@/password", "/etc/attache/git.token": "@/password",
        ]
        try running("recipe-agent", names) { proxy throws in
            let placeholder = "sk-attache-model-5f0c3d2e9b7a4168"
            for (field, value) in [("Authorization", "Bearer "), ("X-Api-Key", "")] {
                let fetch = { (key: String) throws in
                    try Curl.fetch(
                        model.url("/v1/models"), ["-x", proxy.address, "-H", "\(field): \(value)\(key)"])
                }
                #expect(try fetch(placeholder).status == 200)
                #expect(model.messages.last?[field] == value + Account.password)
                #expect(try fetch("own").status == 403)
            }
            #expect(model.messages.count == 2)
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
