import Foundation
import TestSupport
import Testing

/// The proxy's own clients log in by Digest.
struct ClientDigestTests {
    private static let realm = "the tests"
    private static let account = "alice:\(Account.clientPassword)"

    /// - Parameter realm: nil: the rule file says none.
    private func setting(
        _ methods: String = "digest", realm: String? = Self.realm, more: String = "", users: String? = nil,
        files: [String: String] = [:]
    ) throws -> AttacheProcess.Setting {
        let users = try users ?? UsersLines.digest("alice", realm: realm ?? "Attache") + UsersLines.of("bob")
        let said = realm.map { "realm \"\($0)\"" } ?? ""
        let clients = "allow 127.0.0.0/8; authenticate \(methods); \(said); users file @/users; \(more)"
        return AttacheProcess.Setting(clients: clients, files: files.merging(["users": users]) { $1 })
    }

    private func request(_ origin: RecordingOrigin, _ path: String = "/", proof: String? = nil) -> String {
        let field = proof.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        return "GET \(origin.url(path)) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(field)\r\n"
    }

    /// The challenge that a request without credentials gets.
    private func challenge(of proxy: AttacheProcess, for origin: RecordingOrigin) throws -> DigestAnswer {
        let refused = try proxy.exchange(request(origin))
        #expect(refused.status == 407)
        return DigestAnswer(to: try #require(refused["Proxy-Authenticate"]))
    }

    @Test func `curl logs in, for requests, uploads and tunnels`() throws {
        let origin = try RecordingOrigin.answering()
        let upload = Scratch.folder("upload") + "/content"
        try Scratch.write(String(repeating: "x", count: 1 << 20), to: upload)
        try AttacheProcess.running(setting: try setting()) { proxy throws in
            let digest = ["--proxy-digest", "-U", Self.account]
            for options in [[], ["-p"], ["-T", upload], ["--data-binary", "@\(upload)", "-H", "Expect:"], ["-I"]] {
                let answered = try Curl.fetch(origin.url("/a?b=c"), ["-x", proxy.address] + digest + options)
                #expect(answered.status == 200, "\(options): \(answered)")
            }
            #expect(origin.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
            #expect(origin.messages.filter { $0.body.count == 1 << 20 }.count == 2)
            let records = try proxy.records(atLeast: 10)
            #expect(records.filter { $0["user"] == "alice" }.count == 5)
            #expect(!proxy.accessLog.contains("response="))
        }
    }

    @Test func `a wrong password, and a user without a line for Digest, are refused`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: try setting()) { proxy throws in
            #expect(proxy.awaitErrorOutput("can log in by Basic only"))
            for account in [
                "alice:\(Account.wrongPassword)", "bob:\(Account.clientPassword)", "nobody:\(Account.clientPassword)",
            ] {
                let refused = try proxy.get(origin.url(), "--proxy-digest", "-U", account)
                #expect(refused.status == 407)
                #expect(refused.text == "the user name or the password is wrong\n")
            }
            #expect(try proxy.get(origin.url(), "--proxy-basic", "-U", Self.account).status == 407)
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `challenges come in the order of the rule, each in a line of its own`() throws {
        let origin = try RecordingOrigin.answering()
        let setting = try setting("digest bearer basic", more: "tokens file @/tokens", files: ["tokens": ""])
        try AttacheProcess.running(setting: setting) { proxy throws in
            let heads = try proxy.get(origin.url()).heads.split(separator: "\r\n").map(String.init)
            let challenges = heads.filter { $0.hasPrefix("Proxy-Authenticate: ") }
                .map { $0.dropFirst("Proxy-Authenticate: ".count).prefix { $0 != "," } }
            #expect(
                challenges == [
                    "Digest realm=\"the tests\"", "Digest realm=\"the tests\"", "Bearer realm=\"the tests\"",
                    "Basic realm=\"the tests\"",
                ])
            #expect(heads.filter { $0.contains("algorithm=SHA-256") || $0.contains("algorithm=MD5") }.count == 2)
            #expect(try proxy.get(origin.url(), "--proxy-basic", "-U", Self.account).status == 200)
            #expect(try proxy.get(origin.url(), "--proxy-anyauth", "-U", Self.account).status == 200)
        }
    }

    @Test func `an answer is good once, for the request that it was made for`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: try setting()) { proxy throws in
            let challenge = try challenge(of: proxy, for: origin)
            let target = origin.url("/a")
            let proof = try challenge.value("alice", target: target)
            #expect(try proxy.exchange(request(origin, "/a", proof: proof)).status == 200)
            let again = try proxy.exchange(request(origin, "/a", proof: proof))
            #expect(again.status == 407)
            let fresh = DigestAnswer(to: try #require(again["Proxy-Authenticate"]))
            #expect(fresh.isStale && fresh.nonce != challenge.nonce)
            for count in [3, 2] {
                let next = try challenge.value("alice", target: target, count: count)
                #expect(try proxy.exchange(request(origin, "/a", proof: next)).status == 200)
            }
            let elsewhere = try challenge.value("alice", target: target, count: 4)
            #expect(try proxy.exchange(request(origin, "/b", proof: elsewhere)).status == 400)
            let path = try challenge.value("alice", target: "/b", count: 5)
            #expect(try proxy.exchange(request(origin, "/b", proof: path)).status == 200)
            let forged = try challenge.value(
                "alice", target: target, nonce: String(repeating: "0", count: 64))
            let foreign = try proxy.exchange(request(origin, "/a", proof: forged))
            #expect(DigestAnswer(to: try #require(foreign["Proxy-Authenticate"])).isStale)
            let wrong = try fresh.value("alice", password: "guess", target: target)
            let refused = try proxy.exchange(request(origin, "/a", proof: wrong))
            #expect(try !DigestAnswer(to: #require(refused["Proxy-Authenticate"])).isStale)
            #expect(origin.messages.map(\.target) == ["/a", "/a", "/a", "/b"])
        }
    }

    @Test func `a client that is let in is proved that its password is known, also of a tunnel`() throws {
        let origin = try RecordingOrigin.answering {
            try $1.reply("200 OK", ["Proxy-Authentication-Info: rspauth=\"0\""], "ok")
        }
        try AttacheProcess.running(setting: try setting("digest basic")) { proxy throws in
            let challenge = try challenge(of: proxy, for: origin)
            let target = origin.url("/a")
            let answered = try proxy.exchange(
                request(origin, "/a", proof: try challenge.value("alice", target: target)))
            #expect(answered.status == 200)
            #expect(answered.values("Proxy-Authentication-Info") == [try challenge.proof("alice", target: target)])
            let authority = "127.0.0.1:\(origin.port)"
            let proof = try challenge.value("alice", method: "CONNECT", target: authority, count: 2)
            let opened = try proxy.exchange(
                "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\nProxy-Authorization: \(proof)\r\n\r\n",
                method: "CONNECT")
            #expect(opened.status == 200)
            #expect(
                opened["Proxy-Authentication-Info"]
                    == (try challenge.proof("alice", target: authority, count: 2)))
            // Basic has nothing to prove.
            let basic = Data("alice:\(Account.clientPassword)".utf8).base64EncodedString()
            let plain = try proxy.exchange(request(origin, "/a", proof: "Basic \(basic)"))
            #expect(plain.status == 200 && plain["Proxy-Authentication-Info"] == nil)
        }
    }

    /// The first answer comes from a front that hands out a nonce of another proxy.
    @Test func `curl takes a stale nonce for what it is, and asks nobody`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: try setting()) { proxy throws in
            let challenge = try AttacheProcess.running(setting: try setting()) { other throws in
                try #require(try other.exchange(request(origin))["Proxy-Authenticate"])
            }
            let port = proxy.port
            let front = try RecordingOrigin { connection in
                if connection.number == 1 {
                    _ = try connection.request()
                    return try connection.reply(
                        "407 Proxy Authentication Required",
                        ["Proxy-Authenticate: \(challenge)", "Connection: close"])
                }
                let wire = try Wire(to: port)
                while let request = try connection.request() {
                    try wire.send(request.head)
                    let response = try wire.readResponse()
                    try connection.wire.send(response.head + response.text)
                }
            }
            let answered = try Curl.fetch(
                origin.url(), ["-x", front.url(), "--proxy-digest", "-U", Self.account])
            #expect(answered.status == 200, "\(answered)")
            #expect(answered.heads.contains("stale=true"))
            #expect(front.messages.compactMap { $0["Proxy-Authorization"] }.count == 2)
        }
    }

    @Test func `a reload that leaves clients as they are costs nobody a new login`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: try setting()) { proxy throws in
            let challenge = try challenge(of: proxy, for: origin)
            try proxy.reload("route nothing.test { deny }")
            #expect(proxy.awaitErrorOutput("the rule file was reloaded"))
            let proof = try challenge.value("alice", target: origin.url("/a"))
            #expect(try proxy.exchange(request(origin, "/a", proof: proof)).status == 200)
        }
    }

    @Test(.enabled(if: (try? Spawn.executable("javac")) != nil))
    func `Java takes MD5 of what is offered, in the default realm, for requests and tunnels`() throws {
        let origin = try RecordingOrigin.answering()
        let folder = Scratch.folder("java")
        let source = """
            import java.net.*;
            public class Fetch {
                public static void main(String[] words) throws Exception {
                    Authenticator.setDefault(new Authenticator() {
                        protected PasswordAuthentication getPasswordAuthentication() {
                            return new PasswordAuthentication("alice", words[0].toCharArray());
                        }
                    });
                    for (int i = 1; i < words.length; i++) try {
                        URLConnection made = new URL(words[i]).openConnection();
                        System.out.println(((HttpURLConnection) made).getResponseCode());
                    } catch (javax.net.ssl.SSLException error) { System.out.println("tunnel"); }
                }
            }
            """
        try Scratch.write(source, to: folder + "/Fetch.java")
        // Ends when the client has said hello, all of which was read: a reset would be another failure.
        let noTLS = try RecordingOrigin { connection in
            let record = try connection.wire.read(5)
            _ = try connection.wire.read(Int(record[3]) << 8 | Int(record[4]))
        }
        for methods in ["digest basic", "basic"] {
            try AttacheProcess.running(setting: try setting(methods, realm: nil)) { proxy throws in
                let options =
                    ["http", "https"].flatMap {
                        ["-D\($0).proxyHost=127.0.0.1", "-D\($0).proxyPort=\(proxy.port)"]
                    } + [
                        "-Dhttp.nonProxyHosts=", "-Djdk.http.auth.tunneling.disabledSchemes=",
                        "-Dhttp.auth.digest.validateProxy=true",
                    ]
                let run = try Finished.run(
                    "java",
                    options + [
                        "Fetch.java", Account.clientPassword, origin.url("/a"), origin.url("/b"),
                        "https://127.0.0.1:\(noTLS.port)/",
                    ],
                    directory: folder)
                #expect(run.output == "200\n200\ntunnel\n", "\(run)")
                let tunnels = try proxy.records(atLeast: 4).filter { $0["method"] == "CONNECT" }
                #expect(tunnels.contains { $0["status"] == "200" && $0["user"] == "alice" })
            }
        }
    }

    @Test func `proxies that share a key take each other's nonces, others do not`() throws {
        let origin = try RecordingOrigin.answering()
        let key = String(repeating: "5a", count: 32) + "\n"
        let shared = try setting(more: "nonce-key file @/nonce.key", files: ["nonce.key": key])
        try AttacheProcess.running(setting: shared) { one throws in
            let challenge = try challenge(of: one, for: origin)
            try AttacheProcess.running(setting: shared) { other throws in
                let proof = try challenge.value("alice", target: origin.url("/a"))
                #expect(try other.exchange(request(origin, "/a", proof: proof)).status == 200)
                #expect(try other.exchange(request(origin, "/a", proof: proof)).status == 407)
                // Another key takes the place of the first.
                try other.replace("nonce.key", with: String(repeating: "a5", count: 32))
                var count = 2
                let isStale = try Wait.until {
                    count += 1
                    let next = try challenge.value("alice", target: origin.url("/a"), count: count)
                    return try other.exchange(request(origin, "/a", proof: next)).status == 407
                }
                #expect(isStale)
            }
            try AttacheProcess.running(setting: try setting()) { stranger throws in
                let proof = try challenge.value("alice", target: origin.url("/a"))
                #expect(try stranger.exchange(request(origin, "/a", proof: proof)).status == 407)
            }
        }
    }

    @Test(arguments: [("12345", 0o600), (String(repeating: "5a", count: 32), 0o644)])
    func `a key that cannot be used is no start`(key: String, mode: Int) throws {
        let folder = Scratch.folder("nonce")
        try Scratch.write(key, to: folder + "/key", mode: mode_t(mode))
        try Scratch.write("", to: folder + "/users")
        let rules = """
            listen 127.0.0.1:\(FreePort.take())
            clients { authenticate digest; realm "r"; users file users; nonce-key file key }

            """
        try Scratch.write(rules, to: folder + "/proxy.conf")
        let run = try AttacheBinary.run("run", "--config", folder + "/proxy.conf")
        #expect(run.status == 2)
        #expect(run.errorOutput.contains("nonce-key"))
        #expect(!run.errorOutput.contains(key))
    }

    /// It knows MD5 only, and looks at no challenge but the first.
    @Test func `Python's urllib logs in where all lines are of MD5`() throws {
        let origin = try RecordingOrigin.answering()
        let script = """
            import sys, urllib.request as u
            m = u.HTTPPasswordMgrWithDefaultRealm()
            m.add_password(None, sys.argv[1:3], "alice", sys.argv[3])
            o = u.build_opener(u.ProxyHandler({"http": sys.argv[2]}), u.ProxyDigestAuthHandler(m))
            print(o.open(sys.argv[1]).status)
            """
        let users = try UsersLines.digest("alice", realm: Self.realm, onlyMD5: true)
        try AttacheProcess.running(setting: try setting(users: users)) { proxy throws in
            let run = try Finished.run(
                "python3", ["-c", script, origin.url(), proxy.address, Account.clientPassword])
            #expect(run.output == "200\n", "\(run)")
        }
    }
}
