import Foundation
import TestSupport
import Testing

/// The lists of the dashboard in a real browser: many rows, the filter, the page of a host, keys, and the last requests.
struct DashboardListTests {
    private static let rows = 200
    private static let setting = AttacheProcess.Setting(files: ["password": Account.password + "\n"])

    private func origin(_ realm: String, accepting isRight: Bool = false) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            guard isRight, request["Authorization"] != nil else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"\(realm)\""])
            }
            try connection.reply(body: "ok")
        }
    }

    /// Asks for all URLs of a pattern such as `http://a[0-9].example.com/`, some at once.
    private func ask(_ pattern: String, over proxy: AttacheProcess) throws {
        let asked = try Finished.run(
            "curl",
            ["-q", "-s", "-Z", "--parallel-max", "20", "-x", proxy.address, "-o", "/dev/null", pattern], seconds: 300)
        #expect(asked.succeeded, "\(asked)")
    }

    private func count(_ selector: String, _ browser: Browser) throws -> Int {
        try browser.evaluate("document.querySelectorAll(\(Browser.quoted(selector))).length") as? Int ?? -1
    }

    @Test func `200 rows of each kind make a small page with true counts, and a host is found with three keys`() throws
    {
        let (closed, open, asking) = (try origin("closed"), try origin("open", accepting: true), try origin("asking"))
        let expired = try Specimen["expired"]
        let port = try Zoo.shared().port(of: expired)
        let numbers = 0..<Self.rows
        var setting = Self.setting
        setting.environment = [
            "CARES_HOSTS": Scratch.folder("rows") + "/hosts",
            "SSL_CERT_FILE": try Hierarchy.shared().root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
        ]
        try Scratch.write(
            ["closed", "open", "asking", "tls"].flatMap { kind in
                numbers.map { "127.0.0.1 \(kind)\($0).example.com\n" }
            }.joined(), to: try #require(setting.environment["CARES_HOSTS"]))
        let rules =
            """
            limits { questions 300 }
            timeouts { ask 20m }
            credential c { user builder; password file @/password }
            challenge "open" { host open*.example.com; use c }
            challenge "asking" { host asking*.example.com; ask }
            route tls*.example.com { upgrade }

            """
            + numbers.map { number in
                """
                credential c\(number) { user builder; password file @/password }
                parent p\(number) { http 127.0.0.1:\(number + 1) }
                challenge "e\(number)" { host e\(number).example.com; method server-trust; allow expired; until 2099-01-31; trust }

                """
            }.joined()
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            try ask("http://closed[0-\(Self.rows - 1)].example.com:\(closed.port)/a/b", over: proxy)
            try ask("http://open[0-\(Self.rows - 1)].example.com:\(open.port)/", over: proxy)
            try ask("http://tls[0-\(Self.rows - 1)].example.com:\(port)/", over: proxy)
            let asked = try Subprocess(
                "curl",
                [
                    "-q", "-s", "-Z", "--parallel-immediate", "--parallel-max", "\(Self.rows)", "-x", proxy.address,
                    "-o", "/dev/null",
                    "http://asking[0-\(Self.rows - 1)].example.com:\(asking.port)/",
                ])
            defer { _ = asked.kill() }
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            try browser.awaitText("\(Self.rows)", in: "nav [href='#section=questions']")
            // All that the proxy has told is shown by now.
            try browser.awaitText("password in clear", in: "#migration")
            #expect(try count("*", browser) <= 3000)
            for (section, total) in [
                ("questions", Self.rows), ("unanswered", Self.rows), ("credentials", Self.rows + 1),
                ("certificates", Self.rows), ("parents", Self.rows), ("challenges", 3 * Self.rows),
                ("expiries", Self.rows), ("migration", Self.rows), ("requests", 3 * Self.rows),
            ] {
                try browser.evaluate("location.hash = 'section=\(section)'")
                try browser.awaitText("1–50 of \(total)", in: "#\(section) .pages")
                #expect(try count("#\(section) .row", browser) == 50)
                #expect(try count("*", browser) <= 3000, "\(section)")
                try browser.press("Enter", on: "#\(section) .pages [data-name=Next]")
                try browser.awaitText("51–100 of \(total)", in: "#\(section) .pages")
                #expect(try browser.unnamedControls() == [], "\(section)")
            }
            try browser.evaluate("location.hash = 'section=overview'")
            try browser.press("/")
            try browser.insert("closed7")
            // closed7, and closed70 to closed79.
            try browser.awaitText("11 of \(Self.rows)", in: "#unanswered h2")
            try browser.evaluate("document.getElementById('filter').value = ''; document.activeElement.blur()")

            try browser.press("/")
            try browser.insert("closed7.example.com")
            try browser.press("Enter")
            try browser.awaitText("closed7.example.com", in: "#content h1")
            try browser.awaitText("closed7.example.com", in: "#unanswered .reason")
            try browser.awaitText("Copy", in: "#unanswered .lines button")
            try browser.awaitText("/a/b", in: "#requests")
            #expect(try count("#content .row[data-host]:not([data-host='closed7.example.com'])", browser) == 0)
            try browser.press("Enter", on: "#unanswered .lines button")
            try browser.awaitText("Copied", in: "#unanswered .lines button")
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `a refused credential of a host is sent again with three keys and a button`() throws {
        let (first, other) = (try origin("first"), try origin("other"))
        let rules = "credential ci { user builder; password file @/password }\nchallenge { host 127.0.0.1; use ci }\n"
        try AttacheProcess.running(rules, setting: Self.setting) { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            for origin in [first, other] { _ = try proxy.get(origin.url()) }
            try browser.awaitText("refused", in: "#content .due-list")
            // Row by row: the first is the most urgent one.
            try browser.evaluate("document.activeElement.blur()")
            try browser.press("j")
            try browser.press("Enter")
            try browser.awaitText("127.0.0.1", in: "#content h1")
            try browser.awaitText("refused", in: "#unanswered .reason")
            try browser.press("Enter", on: "#credentials [data-name=retry]")
            try browser.awaitText("sends it again", in: "#notice")
            try browser.press("?")
            try browser.awaitText("next row", in: "#help[open]")
            try browser.press("Escape")
            try browser.press("/")
            try browser.insert("nothing-like-it")
            try browser.awaitText("Nothing matches the filter", in: "#content")
            try browser.press("Escape")
            #expect(try browser.evaluate("document.getElementById('filter').value") as? String == "")
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `a lost connection dims the page and says since when`() throws {
        try AttacheProcess.running(setting: Self.setting) { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            try browser.awaitText("live", in: "#live")
            #expect(try browser.evaluate("document.body.classList.contains('stale')") as? Bool == false)
            proxy.terminate()
            try browser.awaitText("No connection to the proxy since ", in: "#lost")
            #expect(
                try browser.evaluate("getComputedStyle(document.getElementById('content')).opacity < 1") as? Bool
                    == true)
        }
    }

    @Test func `the last requests are shown with what became of them, held, and saved`() throws {
        // Bars are of whole milliseconds.
        let open = try RecordingOrigin.answering { _, connection in
            let start = ContinuousClock.now
            _ = Wait.until { ContinuousClock.now - start >= .milliseconds(2) }
            try connection.reply(body: "ok")
        }
        let closed = try origin("=cmd|closed")
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let rules = """
            listen 127.0.0.1:\(port) h2c
            credential maps { token file @/key; query api_key }
            challenge "maps" { host 127.0.0.1; port \(open.port); use maps }
            credential ci { user builder; password file @/password }
            challenge "closed" { host 127.0.0.1; port \(closed.port); realm other; use ci }
            """
        var setting = Self.setting
        let secret = "s3cret-Of.The~Query"
        setting.files["key"] = secret + "\n"
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            #expect(try proxy.get(open.url("/before")).status == 200)
            #expect(try proxy.get(closed.url("/closed")).status == 401)
            let browser = try Browser()
            let saved = Scratch.folder("saved")
            try browser.save(to: saved)
            try browser.visit(try proxy.dashboardLink())
            // One that fails is kept before anybody looks.
            try browser.awaitText("/closed", in: "#requests tbody")
            try browser.awaitText("Proxy-Status: attache; details=", in: "#requests tbody")
            #expect(try !browser.text(of: "#requests").contains("/before"))
            #expect(
                try Wait.until {
                    _ = try proxy.get(open.url("/watched?a=1"))
                    return try browser.text(of: "#requests tbody").contains("/watched")
                })
            try browser.awaitText("client HTTP/1, server HTTP/1", in: "#requests tbody")
            let client = try FrameClient(to: port)
            try client.send(
                Frame.headers(
                    1,
                    [
                        (":method", "GET"), (":scheme", "http"), (":authority", "127.0.0.1:\(open.port)"),
                        (":path", "/stream"),
                    ]))
            #expect(try client.answer(on: 1).status == 200)
            try browser.awaitText("client HTTP/2, server HTTP/1", in: "#requests tbody")
            #expect(open.messages.contains { $0.target.contains(secret) })
            #expect(try !browser.text(of: "#requests").contains(secret))
            #expect(try count("#requests tbody svg[role=img][aria-label]", browser) > 0)
            try browser.press("Enter", on: "#requests [data-name=pause]")
            try browser.awaitText("Paused", in: "#requests")
            _ = try proxy.get(open.url("/held"))
            try browser.awaitText("new request", in: "#requests")
            #expect(try !browser.text(of: "#requests tbody").contains("/held"))
            for format in ["JSON", "CSV"] { try browser.press("Enter", on: "#requests [data-name=\(format)]") }
            let texts = try ["json", "csv"].map { format -> String in
                let path = "\(saved)/attache-requests.\(format)"
                #expect(Wait.until { (try? String(contentsOfFile: path, encoding: .utf8))?.isEmpty == false })
                return try String(contentsOfFile: path, encoding: .utf8)
            }
            let objects = try #require(
                try JSONSerialization.jsonObject(with: Data(texts[0].utf8)) as? [[String: Any]])
            let refused = try #require(objects.first { ($0["target"] as? String)?.hasSuffix("/closed") == true })
            #expect(refused["status"] as? Int == 401 && refused["realm"] as? String == "=cmd|closed", "\(refused)")
            #expect(texts[1].hasPrefix("number,time,client,"))
            #expect(texts[1].contains("/closed,401,"), "\(texts[1])")
            for text in texts { #expect(!text.contains(secret) && !text.contains("/held")) }
            try browser.press("Enter", on: "#requests [data-name=pause]")
            try browser.awaitText("/held", in: "#requests tbody")
            // At the width of a telephone everything is there, and large enough for a finger.
            try browser.resize(width: 390, height: 800)
            #expect(try browser.evaluate("document.documentElement.scrollWidth <= innerWidth") as? Bool == true)
            #expect(
                try browser.evaluate(
                    "[...document.querySelectorAll('main :is(input, select, button), #filter')].every(node => "
                        + "node.offsetParent === null || node.getBoundingClientRect().height >= 40)") as? Bool == true)
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `a question shows who asks for what, and warns of a password in clear`() throws {
        let asking = try origin("people")
        try AttacheProcess.running("challenge \"people\" { host 127.0.0.1; ask }") { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            let held = try Subprocess(
                "curl",
                ["-q", "-sS", "-x", proxy.address, "-A", "backup-tool/2.1", asking.url("/vault/list?token=hidden-one")])
            defer { _ = held.kill() }
            for text in ["basic", "/vault/list", "backup-tool/2.1", "Not encrypted"] {
                try browser.awaitText(text, in: "#questions article")
            }
            #expect(try !browser.text(of: "#questions").contains("hidden-one"))
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }
}
