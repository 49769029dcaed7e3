import Foundation
import Synchronization
import TestSupport
import Testing

/// Everything that one client or one server could once do to the others, all at the same time.
@Suite(.serialized) struct SiegeTests {
    /// The responses of the other clients during which the attacks last: `ATTACHE_SIEGE=20000 make test` for about a minute.
    private static let responses = ProcessInfo.processInfo.environment["ATTACHE_SIEGE"].flatMap { Int($0) } ?? 1000
    /// KiB that the proxy may hold more after the attacks than before.
    private static let growth = 16 * 1024

    @Test(.disabled(if: Sanitizer.isPresent, "its shadow is not the proxy's memory"))
    func `invented realms, names, hosts, cookies, questions, chains and pipelines at once harm no other client`() throws
    {
        let good = try BasicOrigin()
        let siege = try Siege()
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; port \(good.port); use web }
            challenge "people" { host 127.0.0.1; port \(siege.asking.port); ask }
            challenge "portal" {
                host 127.0.0.1
                port \(siege.forms.port)
                method html-form
                form { recognise status 302 location /login*; login /login; fields username={user} password={password} }
                use web
            }
            route hostile.localhost { upgrade \(siege.chainPort) }
            """
        let egress = "deny 192.0.2.0/24; allow 127.0.0.0/8; connect-ports any"
        let setting = AttacheProcess.Setting(egress: egress, threads: 1, log: "off", environment: siege.environment)
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let clients = Clients(10, through: [proxy]) { "http://127.0.0.1:\(good.port)/\($0)/\($1 % 50)" }
            #expect(Wait.until { clients.statuses[200] ?? 0 > 200 })
            // The first of each kind pay for what all have together.
            let first = clients.statuses[200] ?? 0
            siege.lay(to: proxy) { $0.count == Siege.Attack.allCases.count && clients.statuses[200] ?? 0 > first + 200 }
            let before = try proxy.residentKiB()
            clients.mark()
            let end = (clients.statuses[200] ?? 0) + Self.responses
            let count = siege.lay(to: proxy) { _ in
                #expect((try? Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/healthz").status) == 200)
                return clients.statuses[200] ?? 0 > end
            }
            let slowest = clients.slowest
            let after = try proxy.residentKiB()
            let statuses = clients.stop()
            #expect(Set(statuses.keys) == [200], "\(statuses)")
            #expect(after - before <= Self.growth, "\(before) KiB before, \(after) KiB after")
            for attack in Siege.Attack.allCases {
                #expect(count[attack] ?? 0 > 0, "no \(attack) came through")
            }
            print("\(count); \(before) KiB before, \(after) KiB after; the slowest request of another took \(slowest)")
        }
    }
}

/// An origin that wants the account of the harness by Basic.
private struct BasicOrigin {
    private let origin: RecordingOrigin
    var port: UInt16 { origin.port }

    init() throws {
        let right = "Basic " + Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()
        origin = try RecordingOrigin.answering { request, connection in
            if request["Authorization"] == right { return try connection.reply(body: "ok") }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"good\""])
        }
    }
}

/// The attackers, with the servers that help them.
private final class Siege: Sendable {
    enum Attack: CaseIterable {
        /// A realm of 120 KB for each path of many hosts.
        case realms
        /// User names of 14 KB in the URL, each of which is refused.
        case names
        /// Cookies of 3 KB by the page of a form.
        case cookies
        /// Requests that an operator is asked about, and whose client leaves.
        case questions
        /// Handshakes with ten certificates that are a burden to verify.
        case chains
        /// Requests that the proxy answers itself, many in one packet.
        case pipelines
        /// Requests to the administrator whose bodies never come, and whose clients stay.
        case bodies
    }

    private let realms: RecordingOrigin
    private let refusing: RecordingOrigin
    let asking: RecordingOrigin
    let forms: RecordingOrigin
    private let chains: NginxServer
    let chainPort = FreePort.take()
    let environment: [String: String]

    init() throws {
        let long = String(repeating: "r", count: 120_000)
        realms = try RecordingOrigin.answering { request, connection in
            let challenge = "WWW-Authenticate: Basic realm=\"\(request["Host"] ?? "")\(request.target)\(long)\""
            try connection.reply("401 Unauthorized", [challenge])
        }
        refusing = try RecordingOrigin.answering { _, connection in
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
        }
        asking = try RecordingOrigin.answering { request, connection in
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"\(request.target)\""])
        }
        let value = String(repeating: "c", count: 3000)
        let number = Number()
        forms = try RecordingOrigin.answering { request, connection in
            let first = number.next(20)
            let cookies = (first..<first + 20).map { "Set-Cookie: c\($0)=\(value)" }
            if !request.target.hasPrefix("/login") {
                return try connection.reply("302 Found", ["Location: /login"] + cookies)
            }
            let form = "<form method=post><input name=username><input name=password type=password></form>"
            try connection.reply("200 OK", ["Content-Type: text/html"] + cookies, form)
        }
        let root = try CertificateIssuer(root: "Siege Root")
        var issuer = root
        for depth in 1...9 {
            let terms = CertificateTerms(name: "Siege \(depth)", purpose: .authority(pathLength: nil))
            issuer = try CertificateIssuer(terms.with { $0.key = .longExponent }, below: issuer)
        }
        let leaf = try issuer.issue(CertificateTerms(host: "hostile.localhost").with { $0.key = .longExponent })
        chains = try NginxServer([
            NginxConfiguration.Server(port: chainPort, name: "hostile", identity: try ServerIdentity(leaf))
        ])
        environment = ["SSL_CERT_FILE": root.certificate]
    }

    deinit { FreePort.release(chainPort) }

    /// Lays all attacks at once.
    ///
    /// - Parameter isEnough: whether they end, by how often each came through.
    /// - Returns: how often each came through.
    @discardableResult
    func lay(to proxy: AttacheProcess, until isEnough: ([Attack: Int]) -> Bool) -> [Attack: Int] {
        let (isOver, running, counts) = (Flag(), DispatchGroup(), Counts())
        let (waiting, answered) = (Held(40), Held(100))
        let begin = { (attack: Attack, times: Int, body: @escaping @Sendable (Int) throws -> Void) in
            for worker in 0..<times {
                running.enter()
                Thread.detachNewThread {
                    defer { running.leave() }
                    var number = worker
                    while !isOver.isSet {
                        if (try? body(number)) != nil { counts.add(attack) }
                        number += times
                    }
                }
            }
        }
        let get = { @Sendable (url: String) throws in
            let wire = try proxy.connect()
            let authority = url.dropFirst("http://".count).prefix { $0 != "/" }
            try wire.send("GET \(url) HTTP/1.1\r\nHost: \(authority.split(separator: "@").last ?? "")\r\n\r\n")
            return try wire.readResponse(to: "GET").status
        }
        begin(.realms, 4) { [realms] number throws in
            #expect(try get("http://h\(number / 64).localhost:\(realms.port)/\(number % 64)") == 401)
        }
        begin(.names, 2) { [refusing] number throws in
            let name = String(repeating: "u", count: 14_000)
            #expect(try get("http://\(name)\(number):p@127.0.0.1:\(refusing.port)/\(number)") == 401)
        }
        begin(.cookies, 2) { [forms] number throws in _ = try get("http://127.0.0.1:\(forms.port)/\(number)") }
        begin(.questions, 2) { [asking] number throws in
            let wire = try proxy.connect()
            let authority = "127.0.0.1:\(asking.port)"
            try wire.send("GET http://\(authority)/\(number) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            waiting.take(wire)
        }
        begin(.chains, 16) { number throws in
            #expect(try get("http://hostile.localhost/\(number)") == 502)
        }
        begin(.pipelines, 40) { _ throws in
            let wire = try proxy.connect()
            let own = String(repeating: "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", count: 100)
            let denied = String(repeating: "GET http://192.0.2.1/ HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n", count: 100)
            try wire.send(own + denied)
            for index in 0..<200 { #expect(try wire.readResponse(to: index < 100 ? "OPTIONS" : "GET").status != 0) }
        }
        begin(.bodies, 1) { _ throws in
            let (wire, host) = (try Wire(to: proxy.adminPort), "127.0.0.1:\(proxy.adminPort)")
            try wire.send("POST /practice/basic HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 9\r\n\r\nhalf")
            #expect(try wire.readResponse(to: "POST").status == 405)
            answered.take(wire)
        }
        #expect(Wait.until { isEnough(counts.all) }, "\(counts.all)")
        isOver.set()
        running.wait()
        return counts.all
    }

    /// Counts the cookies that the forms set, none of which has the name of another.
    private final class Number: Sendable {
        private let state = Atomic(0)
        func next(_ count: Int) -> Int { state.add(count, ordering: .relaxed).oldValue }
    }

    /// Connections that their clients keep. Where there are too many, the client of the oldest leaves.
    private final class Held: @unchecked Sendable {
        private let lock = NSLock()
        private let limit: Int
        private var wires: [Wire] = []

        init(_ limit: Int) { self.limit = limit }

        func take(_ wire: Wire) {
            lock.withLock {
                wires.append(wire)
                if wires.count > limit { wires.removeFirst().abort() }
            }
        }
    }

    private final class Flag: Sendable {
        private let state = Atomic(false)
        var isSet: Bool { state.load(ordering: .relaxed) }
        func set() { state.store(true, ordering: .relaxed) }
    }

    private final class Counts: Sendable {
        private let state = Mutex<[Attack: Int]>([:])
        var all: [Attack: Int] { state.withLock { $0 } }
        func add(_ attack: Attack) { state.withLock { $0[attack, default: 0] += 1 } }
    }
}
