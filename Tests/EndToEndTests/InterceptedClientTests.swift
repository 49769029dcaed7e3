import Foundation
import Testing

/// Tools that know nothing but a proxy and the certificate that it exported, at an origin that asks for Basic and Digest
/// behind TLS.
struct InterceptedClientTests {
    private static let rules = """
        credential web { user \(Account.user); password file @/password }
        challenge { host \(ApacheServer.secureHost); secure yes; use web }

        """

    /// Runs a proxy that looks into tunnels to Apache and answers there.
    private func intercepting(_ body: (AttacheProcess, _ origin: String, _ authority: String) throws -> Void) throws {
        let origin = "https://\(ApacheServer.secureHost):\(try ApacheServer.shared().securePorts.three)"
        try AttacheProcess.visitingZoo(Self.rules) { proxy throws in
            try body(proxy, origin, proxy.exportedAuthority())
        }
    }

    @Test(arguments: ["basic", "digest", "steady", "multi"])
    func `curl`(name: String) throws {
        try intercepting { proxy, origin, authority throws in
            let urls = (1...3).map { "\(origin)/\(name)/?\($0)" }
            let run = try Finished.run("curl", ["-q", "-sS", "-x", proxy.address, "--cacert", authority] + urls)
            #expect(run.output == String(repeating: "this is \(name)\n", count: 3), "\(run)")
        }
    }

    @Test func `git clones with Basic`() throws {
        let name = ApacheServer.mark()
        _ = try GitRepository(name, at: ApacheServer.shared())
        try intercepting { proxy, origin, authority throws in
            let folder = Scratch.folder("clone")
            let options = ["-c", "http.proxy=\(proxy.address)", "-c", "http.sslCAInfo=\(authority)"]
            let run = try GitRepository.git(
                options + ["clone", "-q", "\(origin)/git/\(name)", "copy"], directory: folder)
            #expect(run.succeeded, "\(run)")
            #expect(Scratch.read(folder + "/copy/file") == GitRepository.text)
        }
    }

    @Test func `pip downloads with Digest`() throws {
        let name = ApacheServer.mark()
        _ = try PythonIndex(name, at: ApacheServer.shared())
        try intercepting { proxy, origin, authority throws in
            let folder = Scratch.folder("pip")
            let options = [
                "--isolated", "--disable-pip-version-check", "--no-cache-dir", "--no-input", "--retries", "0",
                "--no-deps", "--proxy", proxy.address, "--cert", authority, "--index-url", "\(origin)/pip/\(name)/",
            ]
            let run = try Finished.run(
                "python3", ["-m", "pip", "download", "-d", folder] + options + ["attache-sample"])
            #expect(run.succeeded, "\(run)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
        }
    }

    @Test(arguments: ["basic", "digest"])
    func `wget`(name: String) throws {
        try intercepting { proxy, origin, authority throws in
            let options = ["-q", "-O", "-", "--no-config", "--ca-certificate=\(authority)", "\(origin)/\(name)/"]
            let run = try Finished.run("wget", options, environment: ["https_proxy": proxy.address])
            #expect(run.output == "this is \(name)\n", "\(run)")
        }
    }

    @Test(arguments: ["basic", "digest"])
    func `Python's urllib`(name: String) throws {
        try intercepting { proxy, origin, authority throws in
            let script =
                "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode(), end='')"
            let environment = ["https_proxy": proxy.address, "SSL_CERT_FILE": authority]
            let run = try Finished.run("python3", ["-c", script, "\(origin)/\(name)/"], environment: environment)
            #expect(run.output == "this is \(name)\n", "\(run)")
        }
    }

    /// Node's own modules, which leave CONNECT to the program.
    @Test(.enabled(if: isInstalled("node")), arguments: ["basic", "digest"])
    func `Node`(name: String) throws {
        try intercepting { proxy, origin, authority throws in
            let url = try #require(URL(string: origin))
            let place = "\(url.host ?? ""):\(url.port ?? 0)"
            let script = """
                const http = require('http'), https = require('https');
                http.request({ host: '127.0.0.1', port: \(proxy.port), method: 'CONNECT', path: '\(place)' })
                    .on('connect', (response, socket) => {
                        const options = { socket, agent: false, servername: '\(url.host ?? "")', path: '/\(name)/',
                            headers: { host: '\(place)' } };
                        https.get(options, answer => answer.pipe(process.stdout));
                    }).end();
                """
            let run = try Finished.run("node", ["-e", script], environment: ["NODE_EXTRA_CA_CERTS": authority])
            #expect(run.output == "this is \(name)\n", "\(run)")
        }
    }

    @Test(.enabled(if: isInstalled("keytool") && isInstalled("javac")))
    func `Java`() throws {
        try intercepting { proxy, origin, authority throws in
            let source = """
                public class Fetch {
                    public static void main(String[] urls) throws Exception {
                        for (String url : urls) System.out.print(new String(
                            new java.net.URL(url).openConnection().getInputStream().readAllBytes()));
                    }
                }
                """
            let program = try JavaProgram(source, trusting: authority)
            let options = [
                "-Dhttps.proxyHost=127.0.0.1", "-Dhttps.proxyPort=\(proxy.port)", "-Dhttp.nonProxyHosts=",
            ]
            let run = try program.run(["basic", "digest", "basic"].map { "\(origin)/\($0)/" }, options: options)
            #expect(run.output == "this is basic\nthis is digest\nthis is basic\n", "\(run)")
        }
    }

    private static func isInstalled(_ name: String) -> Bool { (try? Spawn.executable(name)) != nil }
}
