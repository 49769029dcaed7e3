import Testing

/// A server refuses a right password for a while, and clients keep asking. The proxy heals by itself (P3). Until then each
/// refused response says when the next try is. The directory counts at most four wrong answers (P1).
struct OutageConversations {
    @Test(arguments: [3, 8, 40, 360], Outage.UpstreamPath.allCases)
    func `after an outage of one server clients are answered again by themselves`(
        seconds: Int, way: Outage.UpstreamPath
    ) async {
        var outage = Outage(way, of: ["localhost"])
        outage.begin()
        outage.last(seconds)
        outage.end()
        await play(rules: outage.rules, outage.text)
        // It is tried after half a minute, five minutes and half an hour.
        #expect(outage.now - seconds <= (seconds < 30 ? 30 : seconds < 300 ? 300 : 1800))
        #expect(outage.counted <= 4)
    }

    @Test(arguments: [3, 8, 40, 360])
    func `after an outage of a directory behind two servers they are answered again at both`(seconds: Int) async {
        var outage = Outage(.challenged, of: ["a.example", "b.example"])
        outage.begin()
        outage.lastAtBoth(seconds)
        outage.end()
        await play(rules: outage.rules, outage.text)
        // A fifth wrong answer in half an hour could lock the account.
        #expect(outage.now - seconds <= (seconds < 30 ? 30 : 1800))
        #expect(outage.counted <= 4)
    }
}

/// Writes the conversation of an outage, second by second.
struct Outage {
    enum UpstreamPath: CaseIterable {
        case challenged
        case preemptive
        case parent

        fileprivate var field: String { self == .parent ? "Proxy-Authorization" : "Authorization" }
        fileprivate var challenge: String {
            self == .parent
                ? "HTTP/1.1 407 Proxy Authentication Required\nProxy-Authenticate: Basic realm=\"x\""
                : "HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Basic realm=\"x\""
        }
    }

    private(set) var text = ""
    /// The wrong answers that a directory counts. Those that were under way count as one.
    private(set) var counted = 0
    /// The seconds since the first leader was refused.
    private(set) var now = 0
    private let way: UpstreamPath
    private let hosts: [String]
    private var clients = 0
    private var servers = 0
    /// The servers' connections that are open.
    private var open: [(host: String, server: Int)] = []

    init(_ way: UpstreamPath, of hosts: [String]) {
        self.way = way
        self.hosts = hosts
    }

    var rules: String {
        let rule =
            switch way {
            case .challenged: "host \(hosts.joined(separator: " ")); use a"
            case .preemptive: "host \(hosts.joined(separator: " ")); use a; method basic; preempt always"
            case .parent: "proxy yes; use a"
            }
        let route = way == .parent ? "parent corp { http proxy:8080 }\nroute * { via corp }\n" : ""
        return "credential a { user u; password p }\n\(route)challenge { \(rule) }"
    }

    // MARK: - Scenes

    /// The password is accepted. Then three requests are under way when the trouble begins, and others come after it.
    mutating func begin() {
        for host in hosts {
            let first = ask(host)
            if way != .preemptive {
                let server = connect(host)
                expect(first, at: server, withAnswer: false)
                challenge(server)
            }
            accept(first, host)
        }
        let asked = (0..<3).map { number in
            let client = ask(hosts[0])
            let server = number == 0 ? idle(hosts[0]) : connect(hosts[0])
            expect(client, at: server, withAnswer: true)
            return (client: client, server: server)
        }
        for (client, server) in asked {
            challenge(server)
            refuse(client, server, "*was refused*")
        }
        counted += 1
        for host in hosts {
            let client = ask(host)
            probe(host, isAccepted: false)
            add("report *was refused by \(place(host)), which accepted it before*The next try is in 30 seconds*")
            hold(client, host, 30)
        }
    }

    /// Clients keep asking until the server accepts the password at a try.
    mutating func last(_ seconds: Int) {
        for due in [30, 330, 2130] {
            wait(for: due, seconds)
            probe(hosts[0], isAccepted: due >= seconds)
            if due >= seconds { return }
        }
    }

    /// The last of four answers is for the server that refused the password first.
    mutating func lastAtBoth(_ seconds: Int) {
        wait(for: 30, seconds)
        probe(hosts[0], isAccepted: 30 >= seconds)
        if 30 >= seconds {
            // Now there is room for that.
            add("after 50ms")
            return probe(hosts[1], isAccepted: true)
        }
        wait(for: 1800, seconds)
        let asked = [2, 1].map { number in (number: number, server: connect(hosts[number - 1])) }
        for (number, server) in asked { expect(number, at: server, withAnswer: false) }
        for (number, server) in asked {
            challenge(server)
            expect(number, at: server, withAnswer: true)
        }
        for (_, server) in asked { message("server \(server)", ">>", "HTTP/1.1 200 OK") }
    }

    /// Each client is answered.
    mutating func end() {
        for host in hosts + hosts + hosts { accept(ask(host), host) }
    }

    // MARK: - Steps

    private mutating func add(_ lines: String) { text += lines + "\n" }

    private mutating func message(_ party: String, _ arrow: String, _ lines: String) {
        add("\(party) \(arrow) " + lines.replacing("\n", with: "\n" + String(repeating: " ", count: party.count + 4)))
    }

    /// Clients ask in the meantime, also after the trouble has ended.
    private mutating func wait(for due: Int, _ seconds: Int) {
        for moment in Set([now + 1, seconds, due - 1]).sorted() where moment > now && moment < due {
            pass(to: moment)
            for host in hosts + hosts { hold(ask(host), host, due - now) }
        }
        pass(to: due)
    }

    private mutating func pass(to moment: Int) {
        for (_, server) in open { add("server \(server) >> close") }
        open = []
        add("after \(moment - now)s")
        now = moment
    }

    private func place(_ host: String) -> String { way == .parent ? "proxy:8080" : "\(host):80" }

    private mutating func connect(_ host: String) -> Int {
        add("<< connect \(place(host))")
        servers += 1
        open.append((host, servers))
        return servers
    }

    private mutating func idle(_ host: String) -> Int { open.last { $0.host == host }?.server ?? connect(host) }

    private mutating func close(_ server: Int) {
        add("server \(server) << close")
        open.removeAll { $0.server == server }
    }

    /// - Returns: the client's number, which is that of the page.
    private mutating func ask(_ host: String) -> Int {
        clients += 1
        message("client \(clients)", ">>", "GET http://\(host)/\(clients) HTTP/1.1")
        return clients
    }

    private mutating func expect(_ number: Int, at server: Int, withAnswer: Bool) {
        let page = way == .parent ? "http://\(hosts[0])/\(number)" : "/\(number)"
        let answer = withAnswer ? "Basic base64(u:p)" : "-"
        message("server \(server)", "<<", "GET \(page) HTTP/1.1\n\(way.field): \(answer)")
    }

    private mutating func challenge(_ server: Int) { message("server \(server)", ">>", way.challenge) }

    private mutating func accept(_ client: Int, _ host: String) {
        let server = idle(host)
        expect(client, at: server, withAnswer: true)
        message("server \(server)", ">>", "HTTP/1.1 200 OK")
        message("client \(client)", "<<", "HTTP/1.1 200 OK")
        add("client \(client) >> close")
    }

    private mutating func refuse(_ client: Int, _ server: Int, _ status: String) {
        if way == .parent {
            message("client \(client)", "<<", "HTTP/1.1 502 Bad Gateway\nProxy-Status: \(status)\n\n*")
            close(server)
        } else {
            message("client \(client)", "<<", "\(way.challenge)\nProxy-Status: \(status)")
        }
        add("client \(client) >> close")
    }

    /// A request is not answered; its client's response says when the next try is.
    private mutating func hold(_ client: Int, _ host: String, _ seconds: Int) {
        let server = idle(host)
        expect(client, at: server, withAnswer: false)
        challenge(server)
        let time = seconds < 120 ? "\(seconds) seconds" : "\((seconds + 59) / 60) minutes"
        refuse(client, server, "*on hold: the next try is in \(time)*")
    }

    /// The proxy asks the server itself, by the first request that it accepted.
    private mutating func probe(_ host: String, isAccepted: Bool) {
        let (first, server) = ((hosts.firstIndex(of: host) ?? 0) + 1, idle(host))
        if way != .preemptive {
            expect(first, at: server, withAnswer: false)
            challenge(server)
        }
        expect(first, at: server, withAnswer: true)
        if isAccepted { return message("server \(server)", ">>", "HTTP/1.1 200 OK") }
        challenge(server)
        counted += 1
        if way == .parent { close(server) }
    }
}
