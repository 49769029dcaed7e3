import Foundation
import TestSupport
import Testing

/// The protocols of credential helpers besides those of git and Docker, each with a server that judges what it gets.
struct HelperKindTests {
    private static func rules(_ credential: String, _ origin: RecordingOrigin, _ challenge: String = "") -> String {
        """
        credential c { \(credential) }
        challenge "r" { host 127.0.0.1; port \(origin.port); \(challenge) use c }
        """
    }

    /// An origin that wants this value of `Authorization`.
    private static func origin(wanting value: String, challenge: String = "Custom realm=\"r\"") throws
        -> RecordingOrigin
    {
        try RecordingOrigin.answering { request, connection in
            if request["Authorization"] == value { return try connection.reply(body: "ok") }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(challenge)"])
        }
    }

    // MARK: - AWS

    private static let (key, secret) = ("AKIDEXAMPLE", "Wj4lr-S1gn/K7MDENG+secret")

    /// The files of AWS's command, with a profile `ci`.
    private static func cloud() throws -> [String: String] {
        let home = Scratch.folder("aws")
        try Scratch.write(
            "[ci]\naws_access_key_id = \(key)\naws_secret_access_key = \(secret)\naws_session_token = T0ken\n",
            to: "\(home)/credentials")
        try Scratch.write("[profile ci]\nregion = eu-central-1\n", to: "\(home)/config")
        return [
            "AWS_SHARED_CREDENTIALS_FILE": "\(home)/credentials", "AWS_CONFIG_FILE": "\(home)/config",
            "AWS_PROFILE": "ci", "AWS_EC2_METADATA_DISABLED": "true",
        ]
    }

    @Test(.enabled(if: HelperScript.isInstalled("/usr/bin/aws")))
    func `AWS's own command gives the keys that sign requests`() throws {
        let origin = try RecordingOrigin { connection in
            while let head = try connection.requestHead() {
                connection.record(content: try connection.wire.readContent(of: head))
                try connection.reply(body: "ok")
            }
        }
        let environment = try Self.cloud()
        let rules = Self.rules(
            """
            aws eu-central-1 s3; helper aws /usr/bin/aws configure export-credentials --format process
            environment \(environment.keys.sorted().joined(separator: " "))
            """, origin)
        try AttacheProcess.running(rules, setting: .init(environment: environment)) { proxy throws in
            for target in ["/bucket/key", "/b?list-type=2"] {
                #expect(try proxy.get(origin.url(target), "-d", "content").status == 200)
            }
            #expect(origin.contents.count == 2)
            for message in origin.contents {
                #expect(try SignatureVerifier.fault(in: message, secret: Self.secret) == nil, "\(message.head)")
                #expect(message["X-Amz-Security-Token"] == "T0ken")
            }
        }
    }

    @Test func `keys that end are read again before that, and without keys the server gets the request unsigned`()
        throws
    {
        let script = try HelperScript(
            """
            test -e fail && { echo no session >&2; exit 1; }
            end=$(date -u -d '+3 seconds' +%Y-%m-%dT%H:%M:%S+00:00)
            printf '{"Version":1,"AccessKeyId":"AK%s","SecretAccessKey":"s","Expiration":"%s"}' "$(wc -l <runs)" "$end"
            """)
        let origin = try RecordingOrigin.answering { request, connection in
            let isSigned = request["Authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=AK") == true
            try connection.reply(isSigned ? "200 OK" : "403 Forbidden")
        }
        try AttacheProcess.running(Self.rules("aws r s; helper aws \(script.path)", origin)) { proxy throws in
            _ = try Wait.until(seconds: 30) { () throws -> Bool in
                #expect(try proxy.get(origin.url()).status == 200)
                return script.runs.count >= 3
            }
            #expect(script.runs.count >= 3)
            try Scratch.write("", to: "\(script.folder)/fail")
            #expect(try Wait.until(seconds: 30) { try proxy.get(origin.url()).status == 403 })
            let refused = try proxy.get(origin.url())
            #expect(refused.heads.contains("no session"), "\(refused)")
            #expect(origin.messages.last?["Authorization"] == nil)
        }
    }

    // MARK: - Kubernetes

    @Test(.enabled(if: HelperScript.isInstalled("/usr/bin/aws")))
    func `AWS's command gives a token for a cluster`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            let isToken = request["Authorization"]?.hasPrefix("Bearer k8s-aws-v1.") == true
            try connection.reply(
                isToken ? "200 OK" : "401 Unauthorized", isToken ? [] : ["WWW-Authenticate: Bearer realm=\"kube\""])
        }
        let environment = try Self.cloud()
        let rules = Self.rules(
            """
            helper kubectl /usr/bin/aws eks get-token --cluster-name ci-cluster
            environment \(environment.keys.sorted().joined(separator: " "))
            """, origin)
        try AttacheProcess.running(rules, setting: .init(environment: environment)) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let token = try #require(
                origin.messages.last?["Authorization"]?.split(separator: ".").last.map(String.init))
            let padded = token.replacing("-", with: "+").replacing("_", with: "/")
            let url = try #require(
                Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)))
            let text = String(decoding: url, as: UTF8.self)
            #expect(text.contains("Action=GetCallerIdentity") && text.contains(Self.key), "\(text)")
            #expect(try proxy.get(origin.url("/2")).status == 200)
            #expect(origin.messages.count { $0["Authorization"] == nil } == 1)
        }
    }

    @Test func `a plugin of Kubernetes knows that no person is there, and its token is used until it ends`() throws {
        let script = try HelperScript(
            """
            echo "$KUBERNETES_EXEC_INFO" >info
            end=$(date -u -d '+5 seconds' +%Y-%m-%dT%H:%M:%SZ)
            printf '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":'
            printf '{"token":"t%s","expirationTimestamp":"%s"}}' "$(wc -l <runs)" "$end"
            """)
        let origin = try RecordingOrigin.answering { request, connection in
            let number = script.runs.count
            let isRight = [number, number - 1].contains { request["Authorization"] == "Bearer t\($0)" }
            try connection.reply(
                isRight ? "200 OK" : "401 Unauthorized", isRight ? [] : ["WWW-Authenticate: Bearer realm=\"kube\""])
        }
        try AttacheProcess.running(Self.rules("helper kubectl \(script.path)", origin)) { proxy throws in
            _ = try Wait.until(seconds: 60) { () throws -> Bool in
                #expect(try proxy.get(origin.url()).status == 200)
                return script.runs.count >= 3
            }
            #expect(script.runs.count >= 3)
            #expect(origin.messages.count { $0["Authorization"] == nil } == 1)
        }
        let info = try #require(
            try JSONSerialization.jsonObject(with: Data(script.read("info").utf8)) as? [String: Any])
        #expect(info["kind"] as? String == "ExecCredential")
        #expect(info["apiVersion"] as? String == "client.authentication.k8s.io/v1")
        #expect((info["spec"] as? [String: Any])?["interactive"] as? Bool == false)
    }

    /// A plugin that gives a certificate.
    ///
    /// - Parameter more: members besides, as Python; `runs` is the number of runs.
    private static func plugin(_ identity: IssuedCertificate, _ more: String = "") throws -> HelperScript {
        try HelperScript(
            """
            python3 - <<'END'
            import json
            read = lambda path: open(path).read()
            runs = len(open('runs').readlines())
            print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential', 'status': {
                'clientCertificateData': read('\(try identity.chain())'), 'clientKeyData': read('\(identity.key)'),
                \(more)}}))
            END
            """)
    }

    @Test func `a plugin of Kubernetes gives a client certificate`() throws {
        let script = try Self.plugin(ClientCertificate.good.get())
        let rules = """
            credential device { helper kubectl \(script.path) }
            challenge "device" { host *.example.test; method client-certificate; use device }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for _ in 1...2 {
                let answered = try proxy.visit(Specimen["client-required"], "/client", by: .upgraded)
                #expect(answered.text == "SUCCESS CN=client-good,O=Zoo\n", "\(answered)")
            }
            #expect(script.runs.count == 1)
        }
    }

    @Test func `a plugin of Kubernetes gives a certificate and a token for one server, and both again after a refusal`()
        throws
    {
        let script = try Self.plugin(ClientCertificate.good.get(), "'token': 't%d' % runs")
        let origin = try RecordingOrigin.answering { request, connection in
            let isRight = request["Authorization"] == "Bearer t2"
            try connection.reply(
                isRight ? "200 OK" : "401 Unauthorized", isRight ? [] : ["WWW-Authenticate: Bearer realm=\"kube\""])
        }
        // Without the certificate, this server answers 400 itself.
        let front = try TLSFront(to: origin.port, demand: .certificate(from: { [$0.root] }))
        let rules = """
            credential cluster { helper kubectl \(script.path) }
            challenge "cluster" { host \(TLSFront.host); method bearer client-certificate; use cluster }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for path in ["/a", "/b"] {
                let answered = try proxy.visit(front.authority, path, by: .upgraded)
                #expect(answered.status == 200, "\(answered)")
            }
            #expect(script.runs.count == 2)
            let sent = origin.messages.map { $0["Authorization"] ?? "" }
            #expect(sent == ["", "Bearer t1", "Bearer t2", "Bearer t2"])
        }
    }

    // MARK: - Bazel

    @Test func `a helper of Bazel gives fields for a server, with each request or for a challenge`() throws {
        let script = try HelperScript(
            """
            cat >got
            printf '{"headers":{"Authorization":["Custom x"],"X-Team":["a","b"]},"expires":"2099-01-01T00:00:00Z"}'
            """)
        for (challenge, first) in [("method other; preempt always;", 1), ("method other;", 2)] {
            let origin = try RecordingOrigin.answering { request, connection in
                let isRight = request["Authorization"] == "Custom x" && request.head.contains("X-Team: a\r\nX-Team: b")
                try connection.reply(
                    isRight ? "200 OK" : "401 Unauthorized", isRight ? [] : ["WWW-Authenticate: Custom realm=\"r\""])
            }
            try AttacheProcess.running(Self.rules("helper bazel \(script.path)", origin, challenge)) { proxy throws in
                #expect(try proxy.get(origin.url("/a"), "-H", "X-Team: own").status == 200)
                #expect(origin.messages.count == first)
                #expect(try proxy.get(origin.url("/b")).status == 200)
                #expect(origin.messages.count == first + 1)
            }
            #expect(script.read("got") == "{\"uri\":\"\(origin.url())\"}")
        }
        #expect(script.runs == ["get", "get"])
    }

    // MARK: - Cargo

    /// A provider that speaks the protocol as Cargo's own library does.
    private static func provider(_ answer: String) throws -> HelperScript {
        try HelperScript(
            """
            exec python3 -c 'import json, sys
            print(json.dumps({"v": [1]}), flush=True)
            for line in sys.stdin:
                asked = json.loads(line)
                open("asked", "a").write(line)
                if asked["v"] != 1 or asked["kind"] != "get": sys.exit(3)
                print(\(answer.replacing("'", with: "\"")), flush=True)
            '
            """)
    }

    @Test func `a provider of Cargo gives the whole value of the field`() throws {
        let script = try Self.provider(
            "json.dumps({'Ok': {'kind': 'get', 'token': 'Custom ' + 'x', 'cache': 'session', 'operation_independent': True}})"
        )
        let origin = try Self.origin(wanting: "Custom x", challenge: #"Cargo login_url="https://r.example/me""#)
        try AttacheProcess.running(Self.rules("helper cargo \(script.path)", origin, "method other;")) { proxy throws in
            for path in ["/a", "/b"] { #expect(try proxy.get(origin.url(path)).status == 200) }
            #expect(origin.messages.map { $0["Authorization"] ?? "" } == ["", "Custom x", "Custom x"])
        }
        #expect(script.runs == ["--cargo-plugin"])
        let asked = try #require(
            try JSONSerialization.jsonObject(with: Data(script.read("asked").utf8)) as? [String: Any])
        let registry = try #require(asked["registry"] as? [String: Any])
        #expect(registry["index-url"] as? String == "sparse+\(origin.url())")
        #expect(registry["headers"] as? [String] == [#"WWW-Authenticate: cargo login_url="https://r.example/me""#])
        #expect(asked["operation"] as? String == "read")
    }

    @Test func `a token that Cargo's provider lets nobody keep is asked for with each challenge`() throws {
        let script = try Self.provider("json.dumps({'Ok': {'kind': 'get', 'token': 'x', 'cache': 'never'}})")
        let origin = try Self.origin(wanting: "x")
        try AttacheProcess.running(Self.rules("helper cargo \(script.path)", origin, "method other;")) { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(origin.messages.count == 6)
            #expect(script.runs.count == 3)
        }
    }

    @Test func `a provider of Cargo that has no token, or says why, costs a sentence`() throws {
        let none = try Self.provider("json.dumps({'Err': {'kind': 'not-found'}})")
        let why = try Self.provider("json.dumps({'Err': {'kind': 'other', 'message': 'the vault is locked'}})")
        for (script, words) in [(none, "it has none"), (why, "it says: the vault is locked")] {
            let origin = try Self.origin(wanting: "x")
            try AttacheProcess.running(Self.rules("helper cargo \(script.path)", origin, "method other;")) {
                proxy throws in
                let refused = try proxy.get(origin.url())
                #expect(refused.status == 401)
                #expect(refused.heads.contains(words), "\(refused)")
            }
        }
    }

    // MARK: - Any scheme

    @Test func `git's helper answers a scheme that only it knows, with each request from then on`() throws {
        let script = try HelperScript(
            """
            cat >>got
            test "$1" = get && printf 'capability[]=authtype\\nauthtype=Custom\\ncredential=id="x"\\n'
            """)
        let origin = try Self.origin(wanting: #"Custom id="x""#)
        try AttacheProcess.running(Self.rules("helper git \(script.path)", origin, "method other;")) { proxy throws in
            for path in ["/a", "/b"] { #expect(try proxy.get(origin.url(path)).status == 200) }
            #expect(origin.messages.count == 3)
            #expect(try proxy.records(atLeast: 2).first?["scheme"] == "other")
            #expect(Wait.until { script.runs == ["get", "store"] })
        }
        #expect(
            script.read("got") == """
                capability[]=authtype
                capability[]=state
                protocol=http
                host=127.0.0.1:\(origin.port)
                wwwauth[]=custom realm="r"

                capability[]=authtype
                protocol=http
                host=127.0.0.1:\(origin.port)
                authtype=Custom
                credential=id="x"


                """)
    }

    @Test func `an answer of a scheme that only the helper knows is refused once, and then on hold`() throws {
        let script = try HelperScript("test \"$1\" = get && printf 'authtype=Custom\\ncredential=wrong\\n'")
        let origin = try Self.origin(wanting: "Custom right")
        try AttacheProcess.running(Self.rules("helper git \(script.path)", origin, "method other;")) { proxy throws in
            for _ in 1...4 { #expect(try proxy.get(origin.url()).status == 401) }
            #expect(origin.messages.count { $0["Authorization"] != nil } <= 2)
            #expect(Wait.until { script.runs.contains("erase") })
            #expect(!script.runs.contains("store"))
        }
    }

    /// An origin that names a nonce for each request, and takes each once.
    private static func counting(_ seen: Counted) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            if let nonce = request["Authorization"]?.dropFirst("Nonce ".count), seen.use(String(nonce)) {
                return try connection.reply(body: "ok")
            }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Nonce value=\"\(seen.next())\""])
        }
    }

    /// Numbers that were given and used.
    private final class Counted: @unchecked Sendable {
        private let lock = NSLock()
        private var last = 0
        private var open: Set<String> = []

        func next() -> String {
            lock.withLock {
                last += 1
                open.insert("n\(last)")
                return "n\(last)"
            }
        }
        func use(_ number: String) -> Bool { lock.withLock { open.remove(number) != nil } }
    }

    @Test func `an answer for one request is not sent with another, for 20 clients at once`() throws {
        let script = try HelperScript(
            """
            test "$1" = get || exit 0
            nonce=$(sed -n 's/^wwwauth\\[\\]=nonce value="\\(.*\\)"$/\\1/p')
            printf 'authtype=Nonce\\ncredential=%s\\nephemeral=1\\n' "$nonce"
            """)
        let origin = try Self.counting(Counted())
        try AttacheProcess.running(Self.rules("helper git \(script.path)", origin, "method other;")) { proxy throws in
            for _ in 1...2 { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(origin.messages.count == 4)
            let statuses = try Parallel.fetch(20, origin.url(), through: proxy)
            #expect(statuses == Array(repeating: 200, count: 20), "\(proxy.accessLog)")
            #expect(script.runs == Array(repeating: "get", count: 22))
        }
    }

    /// A helper that logs in by three answers, each to the nonce of the latest challenge.
    private static func steps(last: Int) throws -> HelperScript {
        try HelperScript(
            """
            cat >in.$$
            test "$1" = get || { cat in.$$ >>reported; exit 0; }
            nonce=$(sed -n 's/^wwwauth\\[\\]=multistage nonce="\\(.*\\)"$/\\1/p' in.$$)
            step=$(sed -n 's/^state\\[\\]=step://p' in.$$)
            step=$((${step:-0} + 1))
            printf 'capability[]=authtype\\ncapability[]=state\\nauthtype=Multistage\\ncredential=%s:%s\\n' $step "$nonce"
            printf 'state[]=step:%s\\n' $step
            test $step -ge \(last) || echo continue=1
            """)
    }

    /// An origin that logs in connections by two answers, each to a nonce of its connection.
    private static func multistage() throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            var (step, nonce) = (0, "none")
            while let request = try connection.request() {
                let word = request["Authorization"]
                if word == "Multistage \(step + 1):\(nonce)" {
                    step += 1
                    if step == 2 {
                        (step, nonce) = (0, "none")
                        try connection.reply(body: request.body.isEmpty ? "ok" : "received \(request.body.count)")
                        continue
                    }
                } else {
                    step = 0
                }
                nonce = UUID().uuidString
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: Multistage nonce=\"\(nonce)\""])
            }
        }
    }

    @Test func `a login in several answers stays on its connection, for 20 clients at once`() throws {
        let script = try Self.steps(last: 2)
        let origin = try Self.multistage()
        try AttacheProcess.running(Self.rules("helper git \(script.path)", origin, "method other;")) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(origin.messages.count == 3)
            #expect(try proxy.get(origin.url(), "-d", "content").text == "received 7")
            #expect(origin.messages.count == 6)
            #expect(try Parallel.fetch(20, origin.url(), through: proxy) == Array(repeating: 200, count: 20))
            #expect(origin.messages.count == 66)
            #expect(Wait.until(seconds: 30) { script.runs.count { $0 == "store" } == 22 })
            #expect(script.runs.count { $0 == "get" } == 44)
        }
        let report = script.read("reported").split(separator: "\n\n").first ?? ""
        #expect(report.hasPrefix("capability[]=authtype\ncapability[]=state\nprotocol=http\n"), "\(report)")
        #expect(report.contains("\ncredential=2:") && report.hasSuffix("\nstate[]=step:2"), "\(report)")
    }

    @Test func `a login that never ends is given up after four requests`() throws {
        let script = try Self.steps(last: 100)
        let endless = try RecordingOrigin.answering { _, connection in
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Multistage nonce=\"x\""])
        }
        try AttacheProcess.running(Self.rules("helper git \(script.path)", endless, "method other;")) { proxy throws in
            #expect(try proxy.get(endless.url()).status == 401)
            #expect(endless.messages.count == 4)
        }
    }

    // MARK: - Without a value

    @Test(arguments: ["WWW-Authenticate: Bearer realm=\"r\"", "X-Nothing: 1"])
    func `without a value for every request the client gets the server's own 401, with the reason`(field: String) throws
    {
        let script = try HelperScript("echo no entry >&2; exit 1")
        let origin = try RecordingOrigin.answering { _, connection in try connection.reply("401 Unauthorized", [field])
        }
        let rules = Self.rules("helper plain \(script.path)", origin, "method bearer; preempt always;")
        try AttacheProcess.running(rules) { proxy throws in
            for _ in 1...3 {
                let refused = try proxy.get(origin.url())
                #expect(refused.status == 401)
                #expect(refused.heads.contains("no entry"), "\(refused)")
            }
            #expect(script.runs.count == 1)
            #expect(origin.messages.count == 3)
        }
    }
}
