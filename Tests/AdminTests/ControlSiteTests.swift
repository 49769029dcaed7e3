import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
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

    private static let challenges = [
        entry("ci.example", realm: "jenkins", .passed) { entry in
            entry.count = 3
            entry.lines = ["Basic realm=\"jenkins\""]
            entry.reason = "rule \"build server\" wants realm \"Jenkins\"; the origin says \"jenkins\""
            entry.rules = ["\"build server\" (proxy.conf:3): realm is \"jenkins\", not \"Jenkins\""]
            entry.suggestion = "challenge \"ci.example\" { host ci.example; port 80; realm \"jenkins\"; use ci }"
        },
        entry("dav.example", realm: nil, .answered) { entry in
            entry.credential = "dav"
            entry.rule = "proxy.conf:5"
        },
    ]

    private static func parked(_ name: String, at host: String) -> ParkedCredentials.Entry {
        ParkedCredentials.Entry(
            space: ProtectionSpace(
                origin: Origin(host: host, port: 80, protocol: .http), realm: "x", authenticationMethod: .basic),
            version: CredentialVersion(name: name, fingerprint: 1))
    }

    private static let status = RunningStatus(
        program: .init(version: "1.2.3", process: 4711, started: 1_767_225_600_000),
        addresses: .init(listeners: ["127.0.0.1:3128"], admin: "127.0.0.1:3127"),
        rules: .init(
            path: "proxy.conf", loaded: 1_767_225_660_000, routes: 0, challenges: 2, credentials: 1, parents: 3),
        rejection: .init(time: 1_767_225_720_000, reason: "proxy.conf has errors"),
        store: .init(place: "sqlite kept.db", problem: "it is locked"), clients: 12)

    /// Number 7 is asked for next; 5 was rejected, and 4 loaded.
    private struct PlayedReloads: ReloadControl {
        func request(by user: UInt32) -> Int { 7 }

        func outcome(of number: Int) -> ReloadOutcome? {
            switch number {
            case 4: .reloaded
            case 5: .rejected(reason: "proxy.conf has errors")
            default: nil
            }
        }
    }

    @Test func `the status has what the proxy works with, and what waits for somebody`() async {
        let parked = ParkedCredentials()
        parked.park(CredentialVersion(name: "ci", fingerprint: 1), for: Self.parked("ci", at: "h").space)
        #expect(
            await Self.response("/status", query: "format=text", parked: parked).body == """
                attache 1.2.3, process 4711, running since 2026-01-01T00:00:00Z
                listening on 127.0.0.1:3128
                the admin listener is on 127.0.0.1:3127
                rules: proxy.conf, loaded 2026-01-01T00:01:00Z; 0 routes, 2 challenge rules, 1 credential, 3 parents
                  a newer rule file was rejected 2026-01-01T00:02:00Z: proxy.conf has errors
                store: sqlite kept.db; it is locked
                clients: 12 connected
                challenges: 1 space unanswered, see 'attache challenges --unanswered'
                credentials: 1 parked after a refusal, see 'attache credential list'

                """)
        let json = await Self.response("/status").body
        #expect(json.contains(#""rejected_because":"proxy.conf has errors""#) && json.contains(#""unanswered":1"#))
    }

    @Test func `each parent has a line in the status, and what another has written stays in it`() async {
        let corp = ParentName("corp", kind: "http", at: "p1:3128")
        var parents = [ParentState(corp), ParentState(corp), ParentState(corp)]
        (parents[1].isUsed, parents[1].connections, parents[1].resting, parents[1].requests) = (true, 5, 2, 70)
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
                  corp, http://p1:3128: up; 3 connections in use, 2 resting; 70 requests; \
                last error 2026-01-01T00:00:00Z: p1 port 3128 refused the connection
                  corp, http://p1:3128, named by a PAC file: failing since 2026-01-01T00:00:00Z, \
                next try 2026-01-01T00:00:01Z ("\u{1B}[2J<script>); 0 connections in use, 0 resting; 0 requests, \
                1 refused for want of a login
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
        var outcomes: [String] = []
        for number in [4, 5, 7] { outcomes.append(await Self.response("/reload", query: "number=\(number)").body) }
        #expect(outcomes == ["reloaded\n", "proxy.conf has errors\n", "pending\n"])
        #expect(await Self.response("/reload", .head).status == .methodNotAllowed)
    }

    private static func response(
        _ path: String, _ method: HTTP.Method = .get, query: String = "",
        parked: ParkedCredentials = ParkedCredentials(), parents: [ParentState] = []
    ) async -> AdminResponse {
        var status = status
        status.parents = parents
        let reported = status
        let state = ChallengeState(
            storage: MemoryCredentialStorage(), spaces: ProtectionSpaces(parked: parked), tokens: TokenStore(),
            report: { _ in })
        let sources = ControlSources(
            state: state, challenges: { challenges }, status: { reported }, reloads: PlayedReloads())
        let request = AdminRequest(
            method: method, target: [], path: Array(path.utf8), query: Array(query.utf8), authority: nil, host: nil,
            authorization: [])
        return await ControlSite(sources: sources, user: 0).response(to: request, at: nil, now: 0)
    }

    @Test func `the table has first those that nobody answered, with the lines to paste`() async {
        #expect(
            await Self.response("/challenges", query: "format=text").body == """
                not answered

                  basic "jenkins" of http://ci.example:80: 3 times, last 2026-01-01T00:00:00Z
                    rule "build server" wants realm "Jenkins"; the origin says "jenkins"
                      "build server" (proxy.conf:3): realm is "jenkins", not "Jenkins"
                    to have it answered, put into the rule file:
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
        #expect(body.hasPrefix(#"[{"host":"ci.example","port":80,"protocol":"http","proxy":false,"realm":"jenkins""#))
        #expect(body.contains(#""challenges":["Basic realm=\"jenkins\""]"#))
        #expect(body.contains(#""first":"2026-01-01T00:00:00Z","last":"2026-01-01T00:00:00Z","count":3}]"#))
        var json = JSONText()
        json.array { $0.string("a\u{1B}\u{9B}\n\"\\é") }
        #expect(json.text == #"["a\u001b\u009b\u000a\"\\é"]"#)
    }

    @Test func `a refusal is lifted for a user, for a server, and for all`() async {
        let parked = ParkedCredentials()
        for entry in [
            Self.parked("ann@a.example:80", at: "a.example"), Self.parked("bob@a.example:80", at: "a.example"),
            Self.parked("ci", at: "b.example"),
        ] { parked.park(entry.version, for: entry.space, retry: entry.version.name == "ci" ? [] : [30_000], at: 1_000) }
        let retry = { (query: String) in
            await Self.response("/parked/retry", .post, query: "format=text&\(query)", parked: parked).body
        }
        #expect(await retry("host=a.example&port=80&protocol=http&user=carol") == "")
        #expect(
            await retry("host=a.example&port=80&protocol=http&user=ann")
                == "ann@a.example:80, refused for basic \"x\" of http://a.example:80\n")
        #expect(parked.entries.map(\.version.name) == ["bob@a.example:80", "ci"])
        let lifted = await retry("user=ci")
        #expect(lifted.hasPrefix("ci, "))
        let listed = await Self.response("/parked", parked: parked).body
        #expect(
            listed.contains(
                #""credential":"bob@a.example:80","since":"1970-01-01T00:00:01Z","next_try":"1970-01-01T00:00:31Z"}]"#),
            "\(listed)")
        let text = await Self.response("/parked", query: "format=text", parked: parked).body
        #expect(text.hasSuffix(", since 1970-01-01T00:00:01Z, next try 1970-01-01T00:00:31Z\n"), "\(text)")
        let rest = await retry("")
        #expect(rest.hasPrefix("bob@"))
        #expect(parked.entries.isEmpty)
    }

    @Test(arguments: [
        (HTTP.Method.post, "/challenges", Status.methodNotAllowed), (.get, "/parked/retry", .methodNotAllowed),
        (.get, "/", .notFound),
    ])
    func `nothing else is there`(method: HTTP.Method, path: String, status: Status) async {
        #expect(await Self.response(path, method).status == status)
    }

    @Test func `a space is told with what is refused and known there`() async {
        let parked = ParkedCredentials()
        let entry = Self.parked("ci", at: "ci.example")
        parked.park(entry.version, for: entry.space)
        let query = "host=ci.example&port=80&protocol=http&target=/a"
        let origin = await Self.response("/space", query: "format=text&\(query)", parked: parked)
        #expect(
            origin.body == """
                fact\tci, refused for basic "x" of http://ci.example:80, until its value is set anew
                fact\tnothing is stored for this server
                refused\tci\tuntil its value is set anew

                """)
        let space = await Self.response("/space", query: "format=text&\(query)&method=basic&realm=x", parked: parked)
        #expect(space.body.contains("refused\tci\tuntil its value is set anew\n"), "\(space.body)")
        let other = await Self.response("/space", query: "\(query)&method=basic&realm=y", parked: parked)
        #expect(other.body == "{\"facts\":[\"nothing is stored for this server\"],\"refused\":[]}\n", "\(other.body)")
        #expect(await Self.response("/space", query: "host=ci.example").status == .badRequest)
    }
}
