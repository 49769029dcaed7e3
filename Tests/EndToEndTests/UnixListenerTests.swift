import Foundation
import Testing

/// `listen unix:PATH as NAME`: clients that are known by their socket.
struct UnixListenerTests {
    private static let listeners = """
        listen unix:@/red.sock as "red"
        listen unix:@/blue.sock { mode 0660 } as "blue"
        credential red { user red; password file @/password }
        credential blue { user blue; password file @/password }

        """

    /// An origin that tells by which user a request came.
    private func origin() throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            guard let field = request["Authorization"], field.hasPrefix("Basic ") else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
            }
            let pair = Data(base64Encoded: String(field.dropFirst(6))).map { String(decoding: $0, as: UTF8.self) } ?? ""
            try connection.reply(body: "you are \(pair.prefix { $0 != ":" })")
        }
    }

    private func running(_ origin: RecordingOrigin, _ body: (AttacheProcess) throws -> Void) throws {
        let challenges = ["red", "blue"].map {
            "challenge { host 127.0.0.1; port \(origin.port); client \"\($0)\"; use \($0) }"
        }
        let rules = Self.listeners + challenges.joined(separator: "\n")
        try AttacheProcess.running(rules, setting: .init(threads: 2), body)
    }

    private func get(_ url: String, by socket: String, _ options: String...) throws -> Fetched {
        try Curl.fetch(url, ["--unix-socket", socket, "--request-target", url] + options)
    }

    @Test func `each socket's clients have their own account, and the log has their user id`() throws {
        let origin = try origin()
        try running(origin) { proxy throws in
            for _ in 1...3 {
                for name in ["red", "blue"] {
                    let fetched = try get(origin.url(), by: "\(proxy.folder)/\(name).sock")
                    #expect(fetched.text == "you are \(name)", "\(fetched)")
                }
            }
            #expect(try proxy.get(origin.url()).status == 401)
            let records = try proxy.records(atLeast: 7)
            #expect(records.prefix(6).map { $0["user"] } == ["red", "blue", "red", "blue", "red", "blue"])
            #expect(records.prefix(6).allSatisfy { $0["client"] == "unix" && $0["uid"] == "\(getuid())" })
            #expect(records.last?["uid"] == nil)
            let explained = try AttacheBinary.run(
                "explain", "--config", proxy.folder + "/proxy.conf", "--client", "red@unix", origin.url())
            #expect(explained.output.contains("red at unix, allowed"), "\(explained)")
            let status = try AttacheBinary.run("status", "--config", proxy.folder + "/proxy.conf")
            #expect(status.output.contains("listening on unix:\(proxy.folder)/red.sock"), "\(status)")
        }
    }

    @Test func `a login by another name changes nothing`() throws {
        let origin = try origin()
        try running(origin) { proxy throws in
            let field = "Proxy-Authorization: Basic " + Data("blue:\(Account.password)".utf8).base64EncodedString()
            let fetched = try get(origin.url(), by: proxy.folder + "/red.sock", "-H", field)
            #expect(fetched.text == "you are red", "\(fetched)")
            #expect(!origin.messages.contains { $0["Proxy-Authorization"] != nil })
        }
    }

    @Test func `a large body goes both ways`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.running("listen unix:@/a.sock as a") { proxy throws in
            let file = try Payload.file(bytes: 5 << 20)
            let url = apache.url("/open/upload.cgi?\(ApacheServer.mark())")
            let sent = try get(url, by: proxy.folder + "/a.sock", "-T", file)
            #expect(sent.text == "\(5 << 20) \(try Hash.sha256(ofFile: file))\n", "\(sent)")
        }
    }

    // MARK: - The file

    private func permissions(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test func `the file is for its owner alone unless a mode says otherwise, and goes when the proxy stops`() throws {
        let folder = try AttacheProcess.running(Self.listeners) { proxy in
            #expect(permissions(proxy.folder + "/red.sock") == 0o600)
            #expect(permissions(proxy.folder + "/blue.sock") == 0o660)
            return proxy.folder
        }
        #expect(permissions(folder + "/red.sock") == nil && permissions(folder + "/blue.sock") == nil)
    }

    /// A rule file with a socket beside a running proxy's.
    private func second(_ proxy: AttacheProcess, at path: String) throws -> Finished {
        let file = proxy.folder + "/second.conf"
        let port = FreePort.take()
        defer { FreePort.release(port) }
        try Scratch.write(
            "listen unix:\(path) as a\nlisten 127.0.0.1:\(port)\nstate \(proxy.folder)/second\nlog off\n", to: file)
        return try Finished.run("timeout", ["-s", "TERM", "20", AttacheBinary.path, "run", "--config", file])
    }

    @Test func `a socket on which a process answers is not replaced, nor is another file`() throws {
        try AttacheProcess.running(Self.listeners) { proxy throws in
            let taken = try second(proxy, at: proxy.folder + "/red.sock")
            #expect(
                !taken.succeeded && taken.errorOutput.contains("process \(proxy.identifier) listens there"), "\(taken)")
            #expect(permissions(proxy.folder + "/red.sock") == 0o600)
            try Scratch.write("mine", to: proxy.folder + "/text")
            let other = try second(proxy, at: proxy.folder + "/text")
            #expect(!other.succeeded && other.errorOutput.contains("is not a socket"), "\(other)")
            #expect(Scratch.read(proxy.folder + "/text") == "mine")
        }
    }

    @Test func `the file of a proxy that was killed is replaced`() throws {
        let origin = try origin()
        let folder = Scratch.folder("stale")
        let bind = "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\(folder)/s')"
        #expect(try Finished.run("python3", ["-c", bind]).succeeded)
        try AttacheProcess.running("listen unix:\(folder)/s as a") { _ throws in
            #expect(try get(origin.url(), by: folder + "/s").status == 401)
        }
        #expect(permissions(folder + "/s") == nil)
    }

    @Test(.enabled(if: getuid() == 0, "only root can be another user"))
    func `a process without the group is turned away by the system`() throws {
        let origin = try origin()
        let folder = Scratch.folder("groups")
        let rules = "listen unix:\(folder)/s as a { mode 0660; group 4242 }"
        try AttacheProcess.running(rules) { proxy throws in
            let reach = { (group: String) in
                try Finished.run(
                    "setpriv",
                    ["--reuid", "65534", "--regid", group, "--clear-groups", "curl", "-sS", "-q", "-o", "/dev/null"]
                        + ["-w", "%{http_code}", "--unix-socket", folder + "/s", "--request-target", origin.url()]
                        + [origin.url()])
            }
            #expect(try reach("4242").output == "401")
            #expect(try reach("65534").status == 7)
            #expect(try proxy.records().map { $0["uid"] } == ["65534"])
        }
    }

    // MARK: - Sandboxes

    /// The words that run a command without a network, with one socket as `/tmp/proxy.sock`.
    private static func sandboxed(_ socket: String, _ command: String) -> [String] {
        [
            "--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind",
            socket, "/tmp/proxy.sock", "sh", "-c",
            """
            socat TCP-LISTEN:3128,bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/tmp/proxy.sock & helper=$!
            until curl -s -o /dev/null http://127.0.0.1:3128/; do :; done
            \(command); kill $helper
            """,
        ]
    }

    private static let hasSandboxes: Bool = {
        let words = ["--unshare-net", "--ro-bind", "/", "/", "true"]
        return (try? Finished.run("bwrap", words).succeeded) == true && (try? Spawn.executable("socat")) != nil
    }()

    @Test(.enabled(if: hasSandboxes, "bubblewrap or socat is not installed, or cannot make a sandbox"))
    func `two sandboxes without a network use two accounts, and neither can use the other's`() throws {
        let origin = try origin()
        try running(origin) { proxy throws in
            for name in ["red", "blue"] {
                let others = "\(proxy.folder)/\(name == "red" ? "blue" : "red").sock"
                let command = """
                    curl -sS -x http://127.0.0.1:3128 \(origin.url())
                    curl -sS --noproxy '*' --max-time 5 \(origin.url()) || echo " no network"
                    test -e \(others) || echo "no other socket"
                    """
                let run = try Finished.run("bwrap", Self.sandboxed("\(proxy.folder)/\(name).sock", command))
                #expect(run.output == "you are \(name) no network\nno other socket\n", "\(run)")
            }
        }
    }
}
