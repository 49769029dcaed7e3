import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Model
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Admin

/// The dashboard as a browser meets it.
struct DashboardSiteTests {
    /// The dashboard's site, and what it is asked for.
    private struct Dashboard {
        let access = DashboardAccess()
        let accounts = Accounts()
        let site: AdminSite
        static let adminSources = sources()

        init(on loop: EventLoop, challenges: [JournalEntry] = [], desk: (any CertificateLook.Desk)? = nil) {
            var sources = dashboardSources(access, challenges: challenges, accounts: accounts)
            if let desk { sources.certificates = desk }
            let feed = DashboardFeed(sources, limit: 2, on: loop)
            site = AdminSite(
                sources: Self.adminSources, practice: nil, dashboard: DashboardSite(sources, feed: feed))
        }

        func ask(
            _ path: String, _ method: HTTP.Method = .get, query: String = "", token: String? = nil,
            session: DashboardAccess.Session? = nil, port: UInt16 = 3127, isForwarded: Bool = false
        ) async -> AdminResponse {
            var request = request(
                path, method: method, authorization: token.map { ["Bearer \($0)"] } ?? [], isForwarded: isForwarded)
            request.query = Array(query.utf8)
            if let session {
                request.cookies = [Array("other=1; attache-\(port)=\(session.cookie)".utf8)]
                request.dashboardKey = Array(session.key.utf8)
            }
            return await site.response(to: request, at: loopback, now: .zero + 1)
        }
    }

    private func withDashboard(
        challenges: [JournalEntry] = [], _ body: @escaping @Sendable (Dashboard) async throws -> Void
    ) async throws {
        try await onLoop { loop in try await body(Dashboard(on: loop, challenges: challenges)) }
    }

    @Test func `the page and its files are for everybody, and load and run nothing but themselves`() async throws {
        try await withDashboard { dashboard in
            for (name, type) in [
                ("", "text/html"), ("main.js", "text/javascript"), ("dashboard.css", "text/css"),
            ] {
                let response = await dashboard.ask("/dashboard/\(name)")
                #expect(response.status == .ok && response.contentType.hasPrefix(type))
                let policy = try #require(response.value("Content-Security-Policy"))
                #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; "))
                #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
                #expect(response.value("X-Content-Type-Options") == "nosniff")
                #expect(response.value("Referrer-Policy") == "no-referrer")
            }
            let page = await dashboard.ask("/dashboard/").body
            #expect(!page.contains("<style") && !page.contains(" style=") && !page.contains(" onclick="))
            #expect(await dashboard.ask("/dashboard").value("Location") == "/dashboard/")
            #expect(await dashboard.ask("/dashboard/", .post).status == .methodNotAllowed)
            #expect(await dashboard.ask("/dashboard/", isForwarded: true).status == .forbidden)
            #expect(await dashboard.ask("/dashboards").status == .notFound)
        }
    }

    @Test func `a token is given for a cookie and a key, once`() async throws {
        try await withDashboard { dashboard in
            let token = try #require(dashboard.access.makeToken())
            let response = await dashboard.ask("/dashboard/session", .post, token: token)
            #expect(response.status == .ok)
            let cookie = try #require(response.value("Set-Cookie"))
            #expect(cookie.hasPrefix("attache-3127="))
            #expect(cookie.hasSuffix("; Path=/dashboard; HttpOnly; SameSite=Strict"))
            let value = try #require(cookie.dropFirst("attache-3127=".count).split(separator: ";").first)
            let key = try #require(response.body.split(separator: "\"").dropFirst(3).first)
            let session = DashboardAccess.Session(cookie: String(value), key: String(key))
            #expect(dashboard.access.admits(session))
            #expect(await dashboard.ask("/dashboard/session", .post, token: token).status == .unauthorized)
            #expect(await dashboard.ask("/dashboard/session", .post).status == .unauthorized)
            #expect(await dashboard.ask("/dashboard/session", .get).body == "{\"users\":false}\n")
            #expect(await dashboard.ask("/dashboard/session", .put).status == .methodNotAllowed)
            let left = await dashboard.ask("/dashboard/session", .delete, session: session)
            #expect(left.value("Set-Cookie")?.contains("Max-Age=0") == true)
            #expect(!dashboard.access.admits(session))
        }
    }

    @Test func `looking and acting need a session`() async throws {
        try await withDashboard { dashboard in
            let session = try #require(dashboard.access.makeSession())
            for (path, method) in [("events", HTTP.Method.get), ("credentials/retry", .post), ("nothing", .get)] {
                #expect(await dashboard.ask("/dashboard/\(path)", method).status == .unauthorized)
                let others = [
                    DashboardAccess.Session(cookie: session.cookie, key: ""), .init(cookie: "", key: session.key),
                ]
                for other in others {
                    #expect(await dashboard.ask("/dashboard/\(path)", method, session: other).status == .unauthorized)
                }
                // That of a proxy at another port of the host.
                #expect(
                    await dashboard.ask("/dashboard/\(path)", method, session: session, port: 3128).status
                        == .unauthorized)
            }
            #expect(await dashboard.ask("/dashboard/events", session: session).contentType == "text/event-stream")
            #expect(await dashboard.ask("/dashboard/events", .post, session: session).status == .methodNotAllowed)
            #expect(await dashboard.ask("/dashboard/credentials/retry", session: session).status == .methodNotAllowed)
            #expect(await dashboard.ask("/dashboard/nothing", session: session).status == .notFound)
        }
    }

    @Test func `a credential on hold is sent again`() async throws {
        try await withDashboard { dashboard in
            let session = try #require(dashboard.access.makeSession())
            let verdicts = PlayedVerdicts(accounts: dashboard.accounts)
            for name in ["ci", "dav"] {
                for target in ["/", "/a"] { verdicts.judge(name, at: "http://a.example:80", .refused, target: target) }
            }
            let held = { dashboard.accounts.all.filter(\.account.isTroubled).map(\.version.name) }
            #expect(held() == ["ci", "dav"])
            let retry = { await dashboard.ask("/dashboard/credentials/retry", .post, query: $0, session: session) }
            #expect(await retry("").status == .badRequest)
            #expect(await retry("credential=cd").status == .notFound)
            #expect(await retry("credential=ci").status == .ok)
            #expect(held() == ["dav"])
        }
    }

    /// Stores everything it gets, and has seen one server.
    private struct PlayedDesk: CertificateLook.Desk {
        var looks: [CertificateLook] {
            var look = CertificateLook(host: "lab.example", port: 443, time: 1)
            var seen = CertificateLook.Seen()
            seen.certificates = [(name: "lab\"", facts: [(name: "names", value: "<b>")])]
            look.outcome = .seen(seen)
            return [look]
        }

        func look(at host: String, port: UInt16) {}

        func accept(_ pin: String, of host: String, port: UInt16, until day: Day) -> DeskAnswer {
            pin == "seen" ? .done("until \(day)") : .refused("other key")
        }
    }

    @Test func `certificates are looked at and accepted where one needed a decision`() async throws {
        let space = ProtectionSpace(
            origin: Origin(host: "lab.example", port: 443, protocol: .https), realm: nil,
            authenticationMethod: .serverTrust)
        let entry = JournalEntry(JournalEntry.Key(space, scheme: "server-trust"), .cancelled, at: 1)
        try await onLoop { loop in
            let dashboard = Dashboard(on: loop, challenges: [entry], desk: PlayedDesk())
            let session = try #require(dashboard.access.makeSession())
            let ask = { (act: String, query: String) in
                await dashboard.ask("/dashboard/trust/\(act)", .post, query: query, session: session)
            }
            #expect(await ask("look", "host=lab.example&port=443").status == .ok)
            #expect(await ask("look", "host=lab.example&port=444").status == .notFound)
            #expect(await ask("look", "host=other.example&port=443").status == .notFound)
            let accept = { (query: String) in await ask("accept", "host=lab.example&port=443&\(query)") }
            #expect(await accept("pin=seen&until=2027-01-31").body == "until 2027-01-31\n")
            #expect(await accept("pin=other&until=2027-01-31").status == .conflict)
            #expect(await accept("pin=seen&until=2027-02-31").status == .badRequest)
            #expect(await accept("until=2027-01-31").status == .badRequest)
            #expect(await ask("accept", "host=other.example&port=443&pin=seen&until=2027-01-31").status == .notFound)
        }
    }

    @Test func `looks and ends are told as they are`() {
        var sources = dashboardSources(DashboardAccess())
        sources.certificates = PlayedDesk()
        sources.expiries = { [Expiry(kind: "token", name: "ci", end: WallTime(seconds: 2 * 86_400))] }
        var json = JSONText()
        json.array { json in
            for part in DashboardSources.parts where ["certificates", "expiries"].contains("\(part.name)") {
                part.write(sources, &json)
            }
        }
        #expect(json.text.contains(#""state":"seen","certificates":[{"name":"lab\"","facts":[["names","<b>"]]}]"#))
        #expect(
            json.text.hasSuffix(
                #"{"total":1,"entries":[{"kind":"token","name":"ci","expires":"1970-01-03T00:00:00Z","last_day":"1970-01-02"}]}]"#
            ))
    }

    /// The events that a page gets when it is opened.
    @Test func `a page gets each part as an event, and another one when it has changed`() async throws {
        try await onLoop { loop in
            let space = ProtectionSpace(
                origin: Origin(host: "a.example", port: 80, protocol: .http), realm: "<script>\u{1B}",
                authenticationMethod: .basic)
            let entry = JournalEntry(JournalEntry.Key(space, scheme: "basic"), .answered, at: 1)
            let accounts = Accounts()
            var sources = dashboardSources(DashboardAccess(), challenges: [entry], accounts: accounts)
            let server = WeakUse.Server("http", host: "a.example", port: 80, as: .origin)
            sources.dated = { [WeakUse("password in clear", of: server, by: "::1", "<i>\u{1B}", with: "ci", at: 1)] }
            let feed = DashboardFeed(sources, limit: 2, on: loop)
            let reader = feed.open(Wakeup())
            let buffer = ByteBuffer(capacity: 64)
            func hasNews() -> Bool {
                feed.write(to: reader, into: buffer)
                return buffer.readable.text.contains("event: c")
            }
            try #require(await Wait.until { () async -> Bool in hasNews() })
            let text = buffer.readable.text
            #expect(text.contains("event: status\ndata: {\"version\":1,\"program_version\":\"1.2.3\""))
            #expect(text.contains("event: challenges\ndata: {\"total\":1,\"entries\":[{\"host\":\"a.example\""))
            #expect(text.contains("\"finding\":\"password in clear\",\"host\":\"a.example\""))
            #expect(text.contains("\"client\":\"::1\",\"application\":\"<i>\\u001b\",\"credential\":\"ci\""))
            #expect(!text.contains("\u{1B}") && text.hasSuffix("\n\n"))
            buffer.clear()
            #expect(!hasNews())
            PlayedVerdicts(accounts: accounts).judge("ci", at: "http://a.example:80", .refused)
            feed.refresh()
            try #require(await Wait.until { () async -> Bool in hasNews() })
            #expect(
                buffer.readable.text.contains(
                    "event: credentials\ndata: {\"total\":1,\"entries\":[{\"credential\":\"ci\",\"source\":\"client\""))
            #expect(!buffer.readable.text.contains("event: challenges"))
            _ = feed.open(Wakeup())
            #expect(!feed.hasRoom)
            feed.close(reader)
            #expect(feed.hasRoom)
            feed.end()
        }
    }

    @Test func `a page gets each request once, and the list of a long journal with its true count`() async throws {
        try await onLoop { loop in
            let entries = (1...1003).map { number in
                let origin = Origin(host: "h\(number).example", port: 80, protocol: .http)
                return JournalEntry(
                    JournalEntry.Key(
                        ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .basic), scheme: "basic"),
                    .passed, at: 1)
            }
            let sources = dashboardSources(DashboardAccess(), challenges: entries)
            let feed = DashboardFeed(sources, limit: 2, on: loop)
            let reader = feed.open(Wakeup())
            let buffer = ByteBuffer(capacity: 64)
            sources.requests.add(Array("\"host\":\"a\"}".utf8))
            sources.requests.add(Array("\"host\":\"b\"}".utf8))
            feed.write(to: reader, into: buffer)
            #expect(
                buffer.readable.text.contains(
                    "\"entries\":[{\"number\":1,\"host\":\"a\"},{\"number\":2,\"host\":\"b\"}]}"))
            buffer.clear()
            sources.requests.add(Array("\"host\":\"c\"}".utf8))
            feed.write(to: reader, into: buffer)
            #expect(buffer.readable.text.contains("\"entries\":[{\"number\":3,\"host\":\"c\"}]}"))
            try #require(
                await Wait.until { () async -> Bool in
                    feed.write(to: reader, into: buffer)
                    return buffer.readable.text.contains("event: challenges")
                })
            let text = buffer.readable.text
            #expect(text.contains("event: challenges\ndata: {\"total\":1003,\"entries\":["))
            #expect(text.contains("\"h1000.example\"") && !text.contains("\"h1001.example\""))
            feed.end()
        }
    }

    @Test func `requests are watched while somebody is logged in`() async throws {
        try await onLoop { loop in
            let access = DashboardAccess()
            let sources = dashboardSources(access)
            let feed = DashboardFeed(sources, limit: 2, on: loop)
            #expect(!sources.requests.isWatched)
            let session = try #require(access.makeSession())
            try #require(await Wait.until { () async -> Bool in sources.requests.isWatched })
            access.end(session)
            try #require(await Wait.until { () async -> Bool in !sources.requests.isWatched })
            feed.end()
        }
    }

    @Test func `the parts of a page are written off the loop, and not while they are being written`() async throws {
        let calls = Atomic(0)
        let callsOnLoop = Atomic(0)
        let isOpen = Atomic(false)
        try await onLoop { loop in
            var sources = dashboardSources(DashboardAccess(), challenges: [], accounts: Accounts())
            sources.dated = {
                calls.add(1, ordering: .relaxed)
                guard EventLoop.current == nil else {
                    callsOnLoop.add(1, ordering: .relaxed)
                    return []
                }
                _ = Wait.until(seconds: 20) { isOpen.load(ordering: .relaxed) }
                return []
            }
            let feed = DashboardFeed(sources, limit: 2, on: loop)
            let reader = feed.open(Wakeup())
            for _ in 0..<10 { feed.refresh() }
            try #require(await Wait.until { () async -> Bool in calls.load(ordering: .relaxed) > 0 })
            #expect(calls.load(ordering: .relaxed) == 1)
            isOpen.store(true, ordering: .relaxed)
            let buffer = ByteBuffer(capacity: 64)
            let isWritten = await Wait.until { () async -> Bool in
                feed.write(to: reader, into: buffer)
                return buffer.readable.text.contains("event: migration")
            }
            #expect(isWritten)
            // What was asked for meanwhile is one more round.
            try #require(await Wait.until { () async -> Bool in calls.load(ordering: .relaxed) > 1 })
            feed.end()
        }
        #expect(callsOnLoop.load(ordering: .relaxed) == 0)
    }

    @Test func `a quantile lies within its bucket`() {
        #expect(LoadFigures.Sample.quantile(0.5, of: [0, 0, 0]) == nil)
        #expect(LoadFigures.Sample.quantile(0.5, of: [2, 0, 0]) == 0.032768)
        #expect(LoadFigures.Sample.quantile(0.5, of: [0, 0, 4]) == 0.196608)
        #expect(LoadFigures.Sample.quantile(0.95, of: [90, 0, 0, 10]) == 0.393216)
    }
}
