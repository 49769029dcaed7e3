import Foundation
import TestSupport
import Testing

/// Takes the pictures of the dashboard that `make screenshots` is for: a proxy with some of everything.
struct ScreenshotTests {
    private static let folder = ProcessInfo.processInfo.environment["ATTACHE_SCREENSHOTS"]
    private static let names = ["ci", "artifacts", "wiki", "mirror", "grafana", "partner", "proxy1", "proxy2"].map {
        "\($0).example.com"
    }

    private static func origin(_ challenge: String, accepting isRight: Bool = false) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            guard isRight, request["Authorization"] != nil else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(challenge)"])
            }
            try connection.reply(body: String(repeating: "a", count: Int.random(in: 1000...40_000)))
        }
    }

    /// Small changes of load, so that there is something to be drawn.
    private func load(_ proxy: AttacheProcess, _ url: String, seconds: Int) throws {
        for second in 0..<seconds {
            let end = Date(timeIntervalSinceNow: 1)
            for _ in 0..<(6 + second % 17 + (second % 5) * 3) where Date() < end { _ = try proxy.get(url) }
            _ = Wait.until { Date() >= end }
        }
    }

    @Test(.enabled(if: folder != nil))
    func `the dashboard, light and dark, on a narrow screen and enlarged`() throws {
        let folder = try #require(Self.folder)
        let ci = try Self.origin("Basic realm=\"jenkins 7\"")
        let artifacts = try Self.origin("Basic realm=\"Artifacts\"", accepting: true)
        let wiki = try Self.origin("Bearer realm=\"wiki\", scope=\"read\"")
        let mirror = try Self.origin("Basic realm=\"mirror\"")
        let grafana = try Self.origin("Basic realm=\"Grafana\"")
        let parent = try RecordingOrigin.answering()
        let dead = FreePort.take()
        let expired = try Specimen["expired"]
        let lab = try Zoo.shared().authority(of: expired)
        var setting = AttacheProcess.Setting(threads: 1, hasRelativePath: true)
        let hosts = Scratch.folder("screenshots") + "/hosts"
        try Scratch.write((Self.names + [expired.host]).map { "127.0.0.1 \($0)\n" }.joined(), to: hosts)
        setting.environment = [
            "CARES_HOSTS": hosts, "SSL_CERT_FILE": try Hierarchy.shared().root.certificate,
            "SSL_CERT_DIR": Scratch.folder("no-anchors"),
        ]
        let rules = """
            credential builder { user builder; password file @/password }
            challenge "build server" { host ci.example.com; realm "Jenkins*"; use builder }
            challenge "artifacts" { host artifacts.example.com; use builder }
            challenge "people" { host grafana.example.com; ask }
            challenge "mirror" { host mirror.example.com; use builder }
            route \(expired.host) { upgrade }
            parent corp { http proxy1.example.com:\(dead) proxy2.example.com:\(parent.port) }
            route partner.example.com { via corp }
            store sqlite kept.db
            """
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let url = { (name: String, origin: RecordingOrigin) in "http://\(name).example.com:\(origin.port)/" }
            let browser = try Browser()
            try browser.visit(try proxy.dashboardLink())
            for _ in 0..<3 { _ = try proxy.get(url("ci", ci)) }
            _ = try proxy.get(url("wiki", wiki))
            _ = try proxy.get(url("mirror", mirror))
            _ = try proxy.get("http://\(lab)/")
            for _ in 0..<5 { _ = try proxy.get("http://partner.example.com/") }
            try load(proxy, url("artifacts", artifacts), seconds: 60)
            let held = try Subprocess("curl", ["-q", "-sS", "-x", proxy.address, url("grafana", grafana)])
            defer { _ = held.kill() }
            try browser.awaitText("grafana", in: "#questions")
            try browser.press("Enter", on: "#certificates [data-name=look]")
            try browser.awaitText("key pin", in: "#certificates .chain")
            #expect(
                try Wait.until {
                    try browser.evaluate("getComputedStyle(document.getElementById('notice')).opacity === '0'") as? Bool
                        == true
                })
            try browser.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
            let show = { (view: String) in
                try browser.evaluate("location.hash = '\(view)'; scrollTo(0, 0)")
                try browser.evaluate("document.activeElement.blur()")
            }
            let views = [
                ("", "section=overview"), ("-host", "host=ci.example.com"), ("-requests", "section=requests"),
                ("-certificates", "section=certificates"),
            ]
            for (name, isDark) in [("light", false), ("dark", true)] {
                try browser.prefer(dark: isDark)
                try browser.resize(width: 1280, height: 1160)
                for (end, view) in views {
                    try show(view)
                    try browser.picture("\(folder)/dashboard-\(name)\(end).png")
                }
                try show("section=overview")
                try browser.evaluate("document.getElementById('credentials').scrollIntoView()")
                try browser.picture("\(folder)/dashboard-\(name)-below.png")
                try browser.evaluate("document.getElementById('parents').scrollIntoView()")
                try browser.picture("\(folder)/dashboard-\(name)-end.png")
            }
            try browser.prefer(dark: false)
            try browser.resize(width: 390, height: 1160)
            for (end, view) in views + [("-questions", "section=questions")] {
                try show(view)
                try browser.picture("\(folder)/dashboard-narrow\(end).png")
            }
            try show("section=overview")
            try browser.evaluate("document.getElementById('parents').scrollIntoView()")
            try browser.picture("\(folder)/dashboard-narrow-end.png")
            try browser.evaluate("scrollTo(0, 0)")
            // A window of 1280 at 200 %.
            try browser.resize(width: 640, height: 580, scale: 2)
            try browser.picture("\(folder)/dashboard-zoom.png")
        }
    }
}

extension AttacheProcess {
    /// A link that logs in to its dashboard.
    func dashboardLink() throws -> String {
        _ = awaitErrorOutput("listening on")
        let printed = try Finished.run(
            AttacheBinary.path, ["admin", "token", "--config", "proxy.conf"], directory: folder, seconds: 20)
        #expect(printed.succeeded, "\(printed)")
        return printed.output.trimmingCharacters(in: .newlines)
    }
}
