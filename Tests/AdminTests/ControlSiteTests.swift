import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
import IO
import Model
import Synchronization
import Telemetry
import Testing

@testable import Admin

/// The resources of the control socket.
struct ControlSiteTests {
    private static func entry(
        _ host: String, realm: String?, _ outcome: JournalEntry.Outcome,
        _ change: (inout JournalEntry) -> Void = { _ in }
    ) -> JournalEntry {
        let space = ProtectionSpace(
            origin: Origin(host: host, port: 80, protocol: .http), realm: realm, authenticationMethod: .basic)
        var entry = JournalEntry(JournalEntry.Key(space, scheme: "basic"), outcome, at: 1_767_225_600_000)
        change(&entry)
        return entry
    }

    private static func response(_ text: String) -> ResponseExcerpt {
        var response = ResponseExcerpt(status: 401, fields: [("Server", "nginx"), ("Date", "now")], hiding: EchoMask())
        response.take(Array(text.utf8), mediaType: nil, hiding: EchoMask())
        return response
    }

    private static let challenges = [
        entry("ci.example", realm: "jenkins", .passed) { entry in
            entry.count = 3
            entry.lines = ["Basic realm=\"jenkins\""]
            entry.reason = "rule \"build server\" is for realm \"Jenkins\"; the origin sends \"jenkins\""
            entry.rules = ["\"build server\" (proxy.conf:3): realm is \"jenkins\", not \"Jenkins\""]
            entry.note(response("account locked for 5 minutes"), at: 1_767_225_600_000)
            entry.suggestion = "challenge \"ci.example\" { host ci.example; port 80; realm \"jenkins\"; use ci }"
        },
        entry("dav.example", realm: nil, .answered) { entry in
            entry.credential = "dav"
            entry.rule = RuleReference(name: nil, file: "proxy.conf", line: 5)
        },
    ]

    /// The rule file's `ci` is paused at one server, and good at another.
    private static func accounts() -> Accounts {
        let accounts = Accounts()
        let verdicts = PlayedVerdicts(accounts: accounts)
        verdicts.judge("ci", at: "http://a.example:80", .accepted)
        verdicts.judge("ci", at: "http://b.example:80", .accepted)
        verdicts.judge("ci", at: "http://a.example:80", .refused, second: 60)
        verdicts.judge("ci", at: "http://a.example:80", .refused, second: 61)
        verdicts.judge("ci", at: "http://b.example:80", .accepted, second: 62)
        return accounts
    }

    private static let status = RunningStatus(
        program: (version: "1.2.3", process: 4711, started: 1_767_225_600_000),
        addresses: (listeners: ["127.0.0.1:3128"], admin: "127.0.0.1:3127"),
        rules: .init(
            path: "proxy.conf", loaded: 1_767_225_660_000, routes: 0, challenges: 2, credentials: 1, parents: 3),
        rejection: (time: 1_767_225_720_000, reason: "proxy.conf has errors"),
        store: (place: "sqlite kept.db", problem: "it is locked"), clients: 12)

    /// Number 7 is asked for next, or 8 to try refused credentials again; 5 was rejected, 4 loaded, and 6 with retries.
    private struct PlayedReloads: ReloadControl {
        func request(by _: AuditEvent.Actor, retrying retries: Bool) -> Int { retries ? 8 : 7 }

        func outcome(of number: Int) -> ReloadOutcome? {
            switch number {
            case 4: .reloaded(lifted: nil)
            case 6: .reloaded(lifted: 3)
            case 5: .rejected(reason: "proxy.conf has errors")
            default: nil
            }
        }
    }

    @Test func `the status has what the proxy works with, and what waits for somebody`() async {
        let accounts = Self.accounts()
        #expect(
            await Self.response("/status", query: "format=text", accounts: accounts).body == """
                attache 1.2.3, process 4711, running since 2026-01-01T00:00:00Z
                listening on 127.0.0.1:3128
                the admin listener is on 127.0.0.1:3127
                rules: proxy.conf, loaded 2026-01-01T00:01:00Z; 0 routes, 2 challenge rules, 1 credential, 3 parents
                  a newer rule file was rejected 2026-01-01T00:02:00Z: proxy.conf has errors
                store: sqlite kept.db; it is locked
                clients: 12 connected
                challenges: 1 space unanswered, see 'attache challenges --unanswered'
                credentials: 1 paused, 1 unknown, see 'attache credential list'

                """)
        let json = await Self.response("/status", accounts: accounts).body
        #expect(json.contains(#""rejected_because":"proxy.conf has errors""#) && json.contains(#""unanswered":1"#))
        #expect(json.contains(#""parked":1,"credential_states":{"paused":1,"unknown":1}"#), "\(json)")
    }

    @Test func `each parent has a line in the status, and what another has written stays in it`() async {
        let corp = ParentName("corp", kind: "http", at: "p1:3128")
        var parents = [ParentState(corp), ParentState(corp), ParentState(corp)]
        (parents[1].isUsed, parents[1].connections, parents[1].idle, parents[1].requests) = (true, 5, 2, 70)
        parents[1].lastError = .init(at: 1_767_225_600_000, "p1 port 3128 refused the connection")
        (parents[2].isUsed, parents[2].refusals, parents[2].isFound) = (true, 1, true)
        parents[2].failingSince = 1_767_225_600_000
        parents[2].nextTry = 1_767_225_601_000
        parents[2].lastError = .init(at: 1_767_225_600_000, "\"\u{1B}[2J<script>")
        let text = await Self.response("/status", query: "format=text", parents: parents).body
        #expect(
            text.contains(
                """
                parents:
                  corp, http://p1:3128: not used yet
                  corp, http://p1:3128: up; 3 active, 2 idle; 70 requests; \
                last error 2026-01-01T00:00:00Z: p1 port 3128 refused the connection
                  corp, http://p1:3128, named by a PAC file: failing since 2026-01-01T00:00:00Z, \
                next try 2026-01-01T00:00:01Z ("\u{1B}[2J<script>); 0 active, 0 idle; 0 requests, \
                1 × 407
                """), "\(text)")
        let json = await Self.response("/status", parents: parents).body
        #expect(json.contains(#""state":"up","last_error":"p1 port 3128 refused the connection""#), "\(json)")
        #expect(
            json.contains(
                #""state":"failing","failing_since":"2026-01-01T00:00:00Z","next_try":"2026-01-01T00:00:01Z","last_error":"\"\u001b[2J<script>""#
            ), "\(json)")
    }

    @Test func `a reload has a number, by which its outcome is asked for`() async {
        #expect(await Self.response("/reload", .post).body == "7\n")
        #expect(await Self.response("/reload", .post, query: "retry=yes").body == "8\n")
        var outcomes: [String] = []
        for number in [4, 6, 5, 7] { outcomes.append(await Self.response("/reload", query: "number=\(number)").body) }
        #expect(outcomes == ["reloaded\n", "reloaded 3\n", "proxy.conf has errors\n", "pending\n"])
        #expect(await Self.response("/reload", .head).status == .methodNotAllowed)
    }

    private static func response(
        _ path: String, _ method: HTTP.Method = .get, query: String = "",
        accounts: Accounts = Accounts(), parents: [ParentState] = []
    ) async -> AdminResponse {
        var status = status
        status.parents = parents
        let reported = status
        let state = ChallengeState(
            storage: StoredCredentials(), spaces: ProtectionSpaces(accounts: accounts), tokens: TokenStore(),
            report: { _ in })
        var sources = ControlSources(
            state: state, challenges: { challenges }, status: { reported }, reloads: PlayedReloads())
        sources.credentials = { _ in
            CredentialList(
                configured: ["ci", "new"].map { name in
                    ConfiguredCredential(name: name, user: .environment("X"), password: .file("/run/secrets/\(name)"))
                }, stored: [], accounts: accounts.all, at: PlayedVerdicts.start + 63_000)
        }
        let request = AdminRequest(
            method: method, target: [], path: Array(path.utf8), query: Array(query.utf8), authority: nil, host: nil,
            authorization: [])
        return await ControlSite(sources: sources, user: 0).response(to: request, at: nil, now: .zero)
    }

    @Test func `the table has first those that nobody answered, with the lines to paste`() async {
        #expect(
            await Self.response("/challenges", query: "format=text").body == """
                not answered

                  basic "jenkins" of http://ci.example:80: 3 times, last 2026-01-01T00:00:00Z
                    rule "build server" is for realm "Jenkins"; the origin sends "jenkins"
                      the server answered 401:
                        account locked for 5 minutes
                      Server: nginx
                      "build server" (proxy.conf:3): realm is "jenkins", not "Jenkins"
                    to answer it, add to the rule file:
                      challenge "ci.example" { host ci.example; port 80; realm "jenkins"; use ci }

                answered

                  basic of http://dav.example:80: once, last 2026-01-01T00:00:00Z
                    credential dav by rule proxy.conf:5

                """)
    }

    @Test func `a query asks for one server, and for those that nobody answered`() async {
        let one = await Self.response("/challenges", query: "format=text&host=DAV.example&port=80&protocol=http").body
        #expect(one.hasPrefix("answered\n") && !one.contains("ci.example"))
        #expect(
            await Self.response("/challenges", query: "format=text&host=dav.example&port=81&protocol=http").body == "")
        let unanswered = await Self.response("/challenges", query: "unanswered=yes").body
        #expect(!unanswered.contains("dav.example"))
    }

    @Test func `the JSON has the challenge as it came, and escapes what a terminal may obey`() async {
        let body = await Self.response("/challenges", query: "unanswered=yes").body
        #expect(
            body.hasPrefix(
                #"{"version":1,"challenges":[{"host":"ci.example","port":80,"protocol":"http","proxy":false,"realm":"jenkins""#
            ))
        #expect(body.contains(#""challenges":["Basic realm=\"jenkins\""]"#))
        #expect(
            body.contains(
                #""response":{"status":401,"fields":["Server: nginx"],"text":"account locked for 5 minutes"}"#),
            "\(body)")
        #expect(body.contains(#""first":"2026-01-01T00:00:00Z","last":"2026-01-01T00:00:00Z","count":3}]"#))
        var json = JSONText()
        json.array { $0.string("a\u{1B}\u{9B}\n\"\\é") }
        #expect(json.text == #"["a\u001b\u009b\u000a\"\\é"]"#)
    }

    @Test func `credentials are sent again by a name, by a server, or all of them`() async {
        let accounts = Self.accounts()
        let verdicts = PlayedVerdicts(accounts: accounts)
        for name in ["ann@a.example:80", "ann@x@a.example:80", "dav"] {
            for target in ["/", "/a"] { verdicts.judge(name, at: "http://c.example:80", .refused, target: target) }
        }
        let retry = { await Self.response("/credentials/retry", .post, query: $0, accounts: accounts).body }
        #expect(await retry("name=carol") == "")
        #expect(await retry("host=d.example&port=80&protocol=http") == "")
        #expect(await retry("host=c.example&port=80&protocol=http&name=ci") == "")
        verdicts.judge("svc", at: "krb5:EXAMPLE.COM", .refused)
        #expect(await retry("kdc=krb5:OTHER.COM") == "")
        #expect(await retry("kdc=krb5:EXAMPLE.COM&name=ci") == "")
        #expect(await retry("kdc=krb5:EXAMPLE.COM") == "svc\n")
        #expect(await retry("name=ann") == "ann@a.example:80\n")
        #expect(await retry("host=b.example&port=80&protocol=http") == "ci\n")
        #expect(await retry("") == "ann@x@a.example:80\ndav\n")
        #expect(await retry("") == "")
        #expect(await Self.response("/credentials/retry", .get).status == .methodNotAllowed)
    }

    @Test func `each credential is listed with its state at each server, and what ends that`() async {
        let accounts = Self.accounts()
        let list = await Self.response("/credentials", query: "format=text", accounts: accounts).body
        #expect(
            list == """
                paused     ci   rule file  file /run/secrets/ci
                    first met 2026-01-01T00:00:00Z, last sent 2026-01-01T00:01:02Z
                    http://a.example:80: paused since 2026-01-01T00:01:01Z, next try 2026-01-01T00:01:31Z, \
                accepted 2026-01-01T00:00:00Z, refused 2026-01-01T00:01:01Z
                    http://b.example:80: accepted, last 2026-01-01T00:01:02Z
                    put the right value into /run/secrets/ci, or run 'attache credential retry ci'
                unknown    new  rule file  file /run/secrets/new

                """, "\(list)")
        let json = await Self.response("/credentials", accounts: accounts).body
        #expect(
            json.hasPrefix(
                #"{"version":1,"credentials":[{"credential":"ci","source":"rule file","place":"file /run/secrets/ci","state":"paused","#
                    + #""since":"2026-01-01T00:01:01Z","next_try":"2026-01-01T00:01:31Z","#
                    + #""reason":"was refused by http://a.example:80","first_met":"2026-01-01T00:00:00Z","#), "\(json)")
        #expect(json.contains(#"{"server":"http://b.example:80","state":"good","accepted":true,"#), "\(json)")
        let lines = await Self.response("/credentials", query: "format=accounts", accounts: accounts).body
        let told = lines.split(separator: "\n").compactMap { AccountLine.account($0) }
        #expect(told.map(\.version) == accounts.all.map(\.version))
        #expect(told.map(\.account) == accounts.all.map(\.account.withoutSamples))
        #expect(AccountLine.account("x y z") == nil && AccountLine.account("") == nil)
    }

    @Test(arguments: [
        (HTTP.Method.post, "/challenges", Status.methodNotAllowed), (.get, "/credentials/retry", .methodNotAllowed),
        (.get, "/", .notFound),
    ])
    func `nothing else is there`(method: HTTP.Method, path: String, status: Status) async {
        #expect(await Self.response(path, method).status == status)
    }

    @Test func `a space is told with what is refused and known there`() async {
        let accounts = Accounts()
        for target in ["/", "/a"] {
            PlayedVerdicts(accounts: accounts).judge("ci", at: "http://ci.example:80", .refused, target: target)
        }
        // The played times are long past: the next try is due.
        let query = "host=ci.example&port=80&protocol=http&target=/a"
        let origin = await Self.response("/space", query: "format=text&\(query)", accounts: accounts)
        #expect(
            origin.body == """
                fact\tci is unproven since 2026-01-01T00:00:00Z, next try 2026-01-01T00:30:00Z: \
                it was refused by http://ci.example:80
                fact\tnothing is stored for this server

                """)
        _ = accounts.reset(at: 0) { _, _ in true }
        let other = await Self.response("/space", query: "\(query)&method=basic&realm=y", accounts: accounts)
        #expect(other.body == "{\"facts\":[\"nothing is stored for this server\"],\"refused\":[]}\n", "\(other.body)")
        #expect(await Self.response("/space", query: "host=ci.example").status == .badRequest)
    }
}
