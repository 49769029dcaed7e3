import Foundation
import TestSupport
import Testing

/// Traces over real sockets: what servers get, and what a collector that we play gets.
struct TraceTests {
    private static let key = "Bearer k3y-Of.The~Collector"
    private static let password = "p4ssword-Of.A~Trace"
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private func guardedOrigin() throws -> RecordingOrigin {
        let right = "Basic " + Data("builder:\(Self.password)".utf8).base64EncodedString()
        return try RecordingOrigin.answering { request, connection in
            if request["Authorization"] == right { return try connection.reply(body: "ok") }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"lab \u{202E}<script>\""])
        }
    }

    private func collector(_ status: String = "200 OK") throws -> RecordingOrigin {
        try RecordingOrigin.answering { _, connection in
            try connection.reply(status, ["Content-Type: application/json"], "{}")
        }
    }

    private func rules(_ collector: RecordingOrigin, _ origin: RecordingOrigin) -> String {
        """
        traces { collector http://127.0.0.1:\(collector.port); header Authorization file @/key }
        credential ci { user builder; password "\(Self.password)" }
        challenge "lab" { host 127.0.0.1; port \(origin.port); use ci }
        route * { trace start }
        """
    }

    private static let setting = AttacheProcess.Setting(files: ["key": key + "\n"])

    private static func context(of request: Message) -> [String] {
        (request["traceparent"] ?? "").split(separator: "-").map(String.init)
    }

    @Test func `each message to the origin has a span of its own, and a collector gets them all`() throws {
        let (origin, collector) = (try guardedOrigin(), try collector())
        try AttacheProcess.running(rules(collector, origin), setting: Self.setting) { proxy throws in
            let fetched = try Curl.fetch(
                origin.url("/x?token=\(Self.password)"),
                [
                    "-x", proxy.address, "-H", "traceparent: 00-\(Self.trace)-00f067aa0ba902b7-01", "-H",
                    "tracestate: a=1",
                ])
            #expect(fetched.status == 200, "\(fetched)")
            let contexts = origin.messages.map(Self.context)
            #expect(contexts.count == 2 && contexts.allSatisfy { $0.count == 4 && $0[1] == Self.trace }, "\(contexts)")
            #expect(Set(contexts.map { $0[2] } + ["00f067aa0ba902b7"]).count == 3, "\(contexts)")
            #expect(origin.messages.allSatisfy { $0["tracestate"] == "a=1" })
            #expect(Wait.until { !collector.messages.isEmpty })
            let post = try #require(collector.messages.first)
            #expect(post.method == "POST" && post.target == "/v1/traces")
            #expect(post["Content-Type"] == "application/json" && post["Authorization"] == Self.key)
            let checked = try Finished.run("python3", ["-c", Self.script, post.text] + contexts.map { $0[2] })
            #expect(checked.succeeded && checked.output == "GET connect GET GET\n", "\(checked) \(post.text)")
            for secret in [Self.password, Self.key, Data("builder:\(Self.password)".utf8).base64EncodedString()] {
                #expect(!post.text.contains(secret), "\(post.text)")
            }
            #expect(try Wait.until { try proxy.metric("attache_spans_sent_total") == 4 })
        }
    }

    /// Holds the spans against OTLP's mapping to JSON.
    private static let script = #"""
        import json, re, sys
        message = json.loads(sys.argv[1])
        assert list(message) == ["resourceSpans"], list(message)
        resource = message["resourceSpans"][0]
        assert {"key": "service.name", "value": {"stringValue": "attache"}} in resource["resource"]["attributes"]
        spans = resource["scopeSpans"][0]["spans"]
        root = spans[0]
        assert root["parentSpanId"] == "00f067aa0ba902b7" and root["kind"] == 2, root
        for span in spans:
            assert span["traceId"] == "4bf92f3577b34da6a3ce929d0e0e4736", span
            assert re.fullmatch("[0-9a-f]{16}", span["spanId"]), span
            start, end = span["startTimeUnixNano"], span["endTimeUnixNano"]
            assert isinstance(start, str) and isinstance(end, str) and int(start) <= int(end), span
            assert int(root["startTimeUnixNano"]) <= int(start) and int(end) <= int(root["endTimeUnixNano"]), span
            assert span is root or span["parentSpanId"] == root["spanId"], span
        assert len({span["spanId"] for span in spans}) == len(spans)
        told = [{a["key"]: list(a["value"].values())[0] for a in span["attributes"]} for span in spans]
        legs = [n for n, span in enumerate(spans) if span["kind"] == 3]
        assert [spans[n]["spanId"] for n in legs] == sys.argv[2:], spans
        first, second = (told[n] for n in legs)
        assert first["http.response.status_code"] == "401" and first["attache.challenge.disposition"] == "use", first
        assert first["attache.challenge.realm"] == "lab \u202e<script>" and "attache.challenge.rule" in first, first
        assert second["attache.answer.scheme"] == "basic" and second["attache.answer.result"] == "accepted", second
        assert told[0]["url.full"].endswith("/x?token=REDACTED"), told[0]
        print(" ".join(span["name"] for span in spans))
        """#

    @Test func `at the stop the collector gets what is left`() throws {
        let (origin, collector) = (try guardedOrigin(), try collector())
        try AttacheProcess.running(rules(collector, origin), setting: Self.setting) { proxy throws in
            #expect(try Curl.fetch(origin.url(), ["-x", proxy.address]).status == 200)
            #expect(collector.messages.isEmpty)
        }
        #expect(collector.messages.count == 1)
    }

    @Test func `a collector that is away delays neither request nor stop`() throws {
        let (origin, collector) = (try guardedOrigin(), try collector("503 Service Unavailable"))
        try AttacheProcess.running(rules(collector, origin), setting: Self.setting) { proxy throws in
            #expect(try Curl.fetch(origin.url(), ["-x", proxy.address]).status == 200)
            #expect(Wait.until { collector.messages.count == 2 })
            #expect(proxy.errorOutput.contains("did not accept spans: it answers 503"), "\(proxy.errorOutput)")
            #expect(try Curl.fetch(origin.url(), ["-x", proxy.address]).status == 200)
        }
    }

    @Test func `spans that were taken are not sent again, however the collector's answer ends`() throws {
        let origin = try guardedOrigin()
        let collector = try RecordingOrigin { connection in
            _ = try connection.request()
            try connection.wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        }
        try AttacheProcess.running(rules(collector, origin), setting: Self.setting) { proxy throws in
            #expect(try Curl.fetch(origin.url(), ["-x", proxy.address]).status == 200)
            #expect(Wait.until { collector.messages.count == 1 })
            // What is left to be sent is sent at the stop.
        }
        #expect(collector.messages.count == 1)
    }

    @Test func `spans go by https to a collector that is trusted, and to no other`() throws {
        let (origin, collector) = (try guardedOrigin(), try collector())
        let front = try TLSFront(to: collector.port)
        let traces = "traces { collector https://127.0.0.1:\(front.port) }\nroute * { trace start }\n"
        try AttacheProcess.running(traces) { proxy throws in
            #expect(try Curl.fetch(origin.url(), ["-x", proxy.address]).status == 401)
            #expect(Wait.until { proxy.errorOutput.contains("did not accept spans") })
        }
        #expect(collector.messages.isEmpty)
        let trust = """
            challenge "collector" {
                host 127.0.0.1
                port \(front.port)
                method server-trust
                allow unknown-issuer incomplete-chain wrong-name
                trust
            }
            """
        try AttacheProcess.running(traces + trust) { proxy throws in
            #expect(try Curl.fetch(origin.url(), ["-x", proxy.address]).status == 401)
            #expect(try Wait.until { try proxy.metric("attache_spans_sent_total") > 0 }, "\(proxy.errorOutput)")
        }
        #expect(collector.messages.count == 1)
    }

    /// The names of all spans that the collector got, in the order of their starts.
    private func names(in collector: RecordingOrigin) throws -> [String] {
        let script = """
            import json, sys
            posts = [json.loads(text) for text in sys.argv[1:]]
            spans = [s for p in posts for r in p["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
            print(" ".join(s["name"] for s in sorted(spans, key=lambda s: int(s["startTimeUnixNano"]))))
            """
        let run = try Finished.run("python3", ["-c", script] + collector.messages.map(\.text))
        #expect(run.succeeded, "\(run)")
        return run.output.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    @Test func `a ticket that is fetched for an answer is a span`() throws {
        let (server, collector) = (try KerberosServer.shared(), try collector())
        let realm = server.realm
        let rules = """
            traces { collector http://127.0.0.1:\(collector.port) }
            route * { trace start }
            credential svc { kerberos \(realm.principal("alice")); keytab \(realm.keytab("alice")) }
            challenge { host localhost; method negotiate; use svc }
            """
        try AttacheProcess.running(rules, setting: .init(environment: realm.environment)) { proxy throws in
            #expect(try proxy.get(server.url("/request/")).status == 200)
            #expect(Wait.until { !collector.messages.isEmpty })
        }
        let names = try names(in: collector)
        #expect(names.filter { $0 != "dns" && $0 != "connect" } == ["GET", "GET", "ticket", "GET"], "\(names)")
    }

    @Test func `the look-up of an FTP server is a span, and so is the transfer`() throws {
        let (server, collector) = (try VsftpdServer.shared(), try collector())
        let rules = """
            traces { collector http://127.0.0.1:\(collector.port) }
            route * { trace start }
            \(server.rule())
            """
        try AttacheProcess.running(rules) { proxy throws in
            let url = server.url("/pub/hello.txt").replacing("127.0.0.1", with: "localhost")
            _ = try proxy.get(url)
            #expect(Wait.until { !collector.messages.isEmpty })
        }
        #expect(try names(in: collector) == ["GET", "dns", "GET"])
    }
}
