import Foundation
import Synchronization
import TestSupport
import Testing

/// The dashboard in a real browser.
struct DashboardTests {
    private static let password = "p4ssword-Of.The~Origin"
    private static let credential = "credential ci { user builder; password file @/password }\n"
    private static let setting = AttacheProcess.Setting(files: ["password": password + "\n"])

    private func origin(_ challenge: String, password: String = password) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            let token = Data("builder:\(password)".utf8).base64EncodedString()
            guard request["Authorization"] == "Basic \(token)" else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(challenge)"])
            }
            try connection.reply(body: "ok")
        }
    }

    @Test func `a link logs in once, and whoever has none sees nothing`() throws {
        try AttacheProcess.running(Self.credential, setting: Self.setting) { proxy in
            let link = try proxy.dashboardLink()
            #expect(link.hasPrefix("http://127.0.0.1:\(proxy.adminPort)/dashboard/#token="))
            let stranger = try Browser()
            try stranger.visit("http://127.0.0.1:\(proxy.adminPort)/dashboard/")
            try stranger.awaitText("attache admin token")
            #expect(try !stranger.text().contains("127.0.0.1:\(proxy.port)"))
            try stranger.type(link + "0", into: "#token")
            try stranger.press("Enter", on: "#token")
            try stranger.awaitText("this link was used already", in: "#login-problem")

            let browser = try Browser()
            try browser.visit(link)
            try browser.awaitText("live", in: "#live")
            try browser.awaitText("127.0.0.1:\(proxy.port)", in: "#overview")
            #expect(
                try browser.evaluate("location.href") as? String == link.split(separator: "#").first.map(String.init))
            #expect(try browser.evaluate("document.cookie") as? String == "")
            try stranger.type(link, into: "#token")
            try stranger.press("Enter", on: "#token")
            try stranger.awaitText("this link was used already", in: "#login-problem")

            // Another page of the session needs no link; a login that has ended does.
            try browser.visit("http://127.0.0.1:\(proxy.adminPort)/dashboard/")
            try browser.awaitText("live", in: "#live")
            try browser.press("Enter", on: "#leave")
            try browser.awaitText("attache admin token")
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `from a request that fails to one that passes by the lines of the page`() throws {
        let origin = try origin("Basic realm=\"jenkins 7\"")
        let rules = Self.credential + "challenge \"build server\" { host 127.0.0.1; realm \"Jenkins*\"; use ci }\n"
        try AttacheProcess.running(rules, setting: Self.setting) { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            try browser.awaitText("No challenge yet", in: "#challenges")
            #expect(try proxy.get(origin.url()).status == 401)
            try browser.awaitText(
                "rule \"build server\" is for realm \"Jenkins*\"; the origin sends \"jenkins 7\"", in: "#unanswered")
            try browser.awaitText("(1) Attaché", in: "title")
            try browser.press("Enter", on: "#unanswered .lines button")
            try browser.awaitText("Copied", in: "#unanswered .lines button")
            try browser.press("Enter", on: "#unanswered summary")
            try browser.awaitText("Basic realm=\"jenkins 7\"", in: "#unanswered details")
            try proxy.reload(rules + browser.text(of: "#unanswered .lines code").replacing("…", with: "ci"))
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
            try browser.awaitText("No challenge is unanswered", in: "#unanswered")
            try browser.awaitText("answered", in: "#challenges .outcome")
            try browser.awaitText("password in clear", in: "#migration")
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `the page adds suggested rules with their passwords, and reloads`() throws {
        let origins = try [origin("Basic realm=\"first\""), origin("Basic realm=\"second\"")]
        try AttacheProcess.running("") { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            for origin in origins { #expect(try proxy.get(origin.url()).status == 401) }
            for (number, origin) in origins.enumerated() {
                // A card that comes or goes would change which one is the first.
                try browser.awaitText("Unanswered \(origins.count - number)", in: "#unanswered h2")
                let card = "#unanswered article:has(form.acceptance)"
                try browser.awaitText("realm", in: "\(card) .lines code")
                let isFirst = try browser.text(of: "\(card) .lines code").contains("port \(origin.port);")
                let served = isFirst ? origin : try #require(origins.first { $0.port != origin.port })
                try browser.type("builder", into: "\(card) [data-name=user]")
                try browser.type(Self.password, into: "\(card) [data-name=secret]")
                try browser.press("Enter", on: "\(card) [data-name=add]")
                try browser.awaitText("and the rules were reloaded", in: "#notice")
                #expect(try Wait.until { try proxy.get(served.url()).status == 200 })
            }
            try browser.awaitText("No challenge is unanswered", in: "#unanswered")
            let rules = Scratch.read(proxy.folder + "/proxy.conf")
            #expect(rules.contains("credential origin {") && rules.contains("credential origin-2 {"), "\(rules)")
            #expect(
                rules.contains("challenge \"127.0.0.1\" {") && rules.contains("challenge \"127.0.0.1-2\" {"), "\(rules)"
            )
            #expect(!rules.contains(Self.password) && !proxy.accessLog.contains(Self.password))
            #expect(proxy.accessLog.contains("\"event\":\"rules.added\",\"by\":\"dashboard\""), "\(proxy.accessLog)")
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `a refused credential is tried again when the page says so`() throws {
        let isUnlocked = Mutex(false)
        let origin = try RecordingOrigin.answering { request, connection in
            guard request["Authorization"] != nil, isUnlocked.withLock({ $0 }) else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""])
            }
            try connection.reply(body: "ok")
        }
        let rules = Self.credential + "challenge { host 127.0.0.1; use ci }\n"
        try AttacheProcess.running(rules, setting: Self.setting) { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            #expect(try proxy.get(origin.url()).status == 401)
            try browser.awaitText("ci", in: "#credentials tbody")
            isUnlocked.withLock { $0 = true }
            #expect(try proxy.get(origin.url()).status == 401)
            try browser.press("Enter", on: "#credentials tbody button")
            try browser.awaitText("sends it again", in: "#notice")
            try browser.awaitText("unknown", in: "#credentials tbody")
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(
                Wait.until { proxy.accessLog.contains("\"event\":\"credential.lifted\",\"by\":\"dashboard\"") },
                "\(proxy.accessLog)")
        }
    }

    @Test func `a certificate is seen with its chain, and its key is trusted until a day`() throws {
        let expired = try Specimen["expired"]
        try AttacheProcess.visitingZoo("store sqlite @/kept.db\n") { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            #expect(try proxy.visit(expired, by: .upgraded).status == 502)
            try browser.awaitText("not trusted", in: "#certificates")
            try browser.press("Enter", on: "#certificates [data-name=look]")
            try browser.awaitText("key pin", in: "#certificates .chain")
            try browser.awaitText("expired", in: "#certificates .look")
            try browser.press("Enter", on: "#certificates [data-name=accept]")
            try browser.awaitText("this key is trusted until", in: "#notice")
            try browser.awaitText("trusted by a stored exception until", in: "#certificates")
            #expect(try Wait.until { try proxy.visit(expired, by: .upgraded).status == 200 })
            try browser.awaitText("trusted by exception", in: "#certificates")
            #expect(
                try Wait.until {
                    try proxy.events().contains { $0["event"] == "trust.set" && $0["by"] == "dashboard" }
                })
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `a request that a rule asks about is answered on the page, and passes`() throws {
        let origin = try origin("Basic realm=\"people\"")
        try AttacheProcess.running("challenge \"people\" { host 127.0.0.1; ask }") { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            try browser.awaitText("No request waits for you", in: "#questions")
            let held = try Subprocess(
                "curl", ["-q", "-sS", "-x", proxy.address, "-o", "/dev/null", "-w", "%{http_code}", origin.url()])
            defer { _ = held.kill() }
            try browser.awaitText("1 request of 127.0.0.1", in: "#questions")
            try browser.awaitText("(1) Attaché", in: "title")
            try browser.type("builder", into: "#questions [data-name=user]")
            try browser.type(Self.password, into: "#questions [data-name=password]")
            try browser.press("Enter", on: "#questions [data-name=password]")
            try browser.awaitText("user builder", in: "#notice")
            #expect(held.wait(seconds: 60) == 0 && held.output == "200", "\(held.output) \(held.errorOutput)")
            try browser.awaitText("No request waits for you", in: "#questions")
            #expect(
                try Wait.until {
                    try proxy.events().contains { $0["event"] == "question.answered" && $0["by"] == "dashboard" }
                })
            #expect(!proxy.accessLog.contains(Self.password))
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `a credential is chosen from a list, and the answer is taken back`() throws {
        let origin = try origin("Basic realm=\"\u{202E}<script>alert(1)</script>\"")
        let rules = Self.credential + "challenge \"people\" { host 127.0.0.1; ask }"
        try AttacheProcess.running(rules, setting: Self.setting) { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            try browser.awaitText("None yet", in: "#answers")
            let held = try Subprocess("curl", ["-q", "-sS", "-x", proxy.address, origin.url()])
            defer { _ = held.kill() }
            try browser.awaitText("ci", in: "#questions select[data-name=credential]")
            try browser.press("Tab", on: "#questions select[data-name=credential]")
            try browser.press("Enter")
            try browser.awaitText("use ci", in: "#notice")
            #expect(held.wait(seconds: 60) == 0 && held.output == "ok")
            try browser.awaitText("use ci", in: "#answers tbody")
            let text = try browser.text(of: "#answers")
            #expect(text.contains("\u{FFFD}<script>alert(1)</script>") && !text.contains("\u{202E}"), "\(text)")
            try browser.press("Enter", on: "#answers tbody [data-name=forget]")
            try browser.awaitText("is no longer saved", in: "#notice")
            try browser.awaitText("None yet", in: "#answers")
            let asked = try Subprocess("curl", ["-q", "-sS", "-x", proxy.address, origin.url()])
            defer { _ = asked.kill() }
            try browser.awaitText("1 request of 127.0.0.1", in: "#questions")
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }

    @Test func `an administrator logs in by TLS with a password, and health is asked for in clear`() throws {
        let server = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        let setting = AttacheProcess.Setting(
            admin: "{ certificate \(try server.chain()); key \(server.key); users file @/admins }",
            files: ["admins": try UsersLines.of("ann")])
        try AttacheProcess.running(setting: setting) { proxy throws in
            let place = "127.0.0.1:\(proxy.adminPort)/dashboard/"
            let health = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/healthz")
            #expect(health.status == 200, "\(health) \(proxy.errorOutput)")
            #expect(try Curl.fetch("http://\(place)").status == 403)
            let browser = try Browser(trustsAnyCertificate: true)
            try browser.visit("https://\(place)")
            for (password, text, part) in [
                ("wrong", "wrong user or password", "#login-problem"), (Account.clientPassword, "live", "#live"),
            ] {
                try browser.press("Escape", on: "#user")
                try browser.evaluate("document.getElementById('user').value = ''")
                try browser.type("ann", into: "#user")
                try browser.type(password, into: "#password")
                try browser.press("Enter", on: "#password")
                try browser.awaitText(text, in: part)
            }
            #expect(try proxy.dashboardLink().hasPrefix("https://\(place)#token="))
        }
    }

    /// Realms of servers that mean harm. Control characters of ASCII end in a 502 before they get here.
    enum Hostile: String, CaseIterable {
        case script = "\"><script>document.title='owned'</script><img src=x onerror=alert(1)>"
        case quotes = "'\\\"; \u{9B}31m &lt;b&gt; ${1} {{1}}"
        case directions = "\u{202E}drowssap\u{202C} \u{200F}\u{2066}"
        case long

        var realm: String { self == .long ? String(repeating: "A<b>", count: 1 << 15) : rawValue }
    }

    private static let steering = Set("\u{202E}\u{202C}\u{200F}\u{2066}\u{9B}\u{1B}".unicodeScalars)

    @Test(arguments: Hostile.allCases)
    func `hostile text is shown as text`(hostile: Hostile) throws {
        let quoted = hostile.realm.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let origin = try origin("Basic realm=\"\(quoted)\", <i>=\"<b>x</b>\"")
        let open = try self.origin("Basic realm=\"x\"")
        let rules = Self.credential + "challenge { host 127.0.0.1; port \(open.port); use ci }\n"
        try AttacheProcess.running(rules, setting: Self.setting) { proxy throws in
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            try browser.awaitText("live", in: "#live")
            _ = try proxy.get(origin.url())
            try browser.awaitText(":\(origin.port)", in: "#unanswered")
            // A client's own words stand among the ways that should be given up.
            let application = String(hostile.realm.prefix(2000))
            #expect(try proxy.get(open.url(), "-A", application).status == 200)
            try browser.awaitText("password in clear", in: "#migration")
            let status = try Finished.run(
                AttacheBinary.path, ["status", "--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
            #expect(status.output.contains("password in clear to http://127.0.0.1:\(open.port), last 20"), "\(status)")
            #expect(!status.output.unicodeScalars.contains { Self.steering.contains($0) }, "\(status)")
            #expect(status.output.utf8.count < 4000)
            #expect(
                try browser.evaluate("document.querySelectorAll('#content :is(script,img,b:not(.key b),i)').length")
                    as? Int == 0)
            #expect(try browser.evaluate("document.title") as? String == "(1) Attaché")
            let text = try browser.text(of: "#content")
            #expect(!text.unicodeScalars.contains { Self.steering.contains($0) })
            #expect(text.utf8.count < 64 << 10)
            // Nothing makes the page wider than its window.
            try browser.resize(width: 400, height: 800)
            #expect(try browser.evaluate("document.documentElement.scrollWidth <= innerWidth") as? Bool == true)
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }
}
