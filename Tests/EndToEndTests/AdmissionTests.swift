import Foundation
import TestSupport
import Testing

/// The choice of clients that are served, if not all can or may be.
struct AdmissionTests {
    private static func request(_ origin: RecordingOrigin, _ path: String = "/") -> String {
        "GET \(origin.url(path)) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
    }

    /// Waits until so many connections were accepted or refused: who comes behind them is not displaced for their sake.
    private static func haveArrived(_ count: Int, at proxy: AttacheProcess) throws -> Bool {
        try Wait.until {
            let refused = try proxy.metric("attache_clients_refused_total{reason=\"limit\"}")
            return try refused + proxy.metric("attache_clients_total") >= count
        }
    }

    /// A client that has made a request and keeps its connection.
    private static func idle(_ origin: RecordingOrigin, at proxy: AttacheProcess) throws -> Wire {
        let wire = try proxy.connect()
        try wire.send(request(origin))
        #expect(try wire.readResponse().status == 200)
        return wire
    }

    @Test func `at the limit the longest silent client makes room, then the one idle longest`() throws {
        let origin = try RecordingOrigin.answering()
        let rules = "limits { clients 4 }\ntimeouts { head 300s; idle 300s }"
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            let first = try Self.idle(origin, at: proxy)
            let silent = try proxy.connect()
            let half = try proxy.connect()
            try half.send("GET http://127.0.0.1/ HTT")
            let second = try Self.idle(origin, at: proxy)
            // The first one has been idle for a shorter time than the second from here on.
            try first.send(Self.request(origin))
            #expect(try first.readResponse().status == 200)

            let third = try Self.idle(origin, at: proxy)
            #expect(try silent.isEnded())
            let fourth = try Self.idle(origin, at: proxy)
            #expect(try half.isEnded())
            let fifth = try Self.idle(origin, at: proxy)
            #expect(try second.isEnded())
            for wire in [first, third, fourth, fifth] {
                try wire.send(Self.request(origin))
                #expect(try wire.readResponse().status == 200)
            }
            #expect(try proxy.metric("attache_clients_displaced_total") == 3)
            #expect(try proxy.metric("attache_clients_open") == 4)
            #expect(proxy.errorOutput.components(separatedBy: "the limit of 4 clients is reached").count == 2)
        }
    }

    @Test func `a client for which nobody makes room is told so, and those that are served notice nothing`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, connection in
            gate.wait()
            try connection.reply(body: "ok")
        }
        try AttacheProcess.running("limits { clients 2 }", setting: .init(threads: 1)) { proxy throws in
            let served = try (1...2).map { _ in
                let wire = try proxy.connect()
                try wire.send(Self.request(origin))
                return wire
            }
            #expect(Wait.until { origin.requests.count == 2 })
            let refused = try proxy.exchange(Self.request(origin))
            #expect(refused.status == 503)
            #expect(refused["Connection"] == "close")
            #expect(refused["Retry-After"] == "1")
            #expect(refused.text.contains("too many clients"))
            gate.open()
            for wire in served { #expect(try wire.readResponse().status == 200) }
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(try proxy.metric("attache_clients_refused_total{reason=\"limit\"}") == 1)
            #expect(try proxy.records(atLeast: 4).map(\.status).sorted() == [200, 200, 200, 503])
        }
    }

    @Test func `the limit is one for all threads`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, connection in
            gate.wait()
            try connection.reply(body: "ok")
        }
        try AttacheProcess.running("limits { clients 24 }", setting: .init(threads: 4)) { proxy throws in
            let wires = try (1...24).map { _ in
                let wire = try proxy.connect()
                try wire.send(Self.request(origin))
                return wire
            }
            #expect(Wait.until { origin.requests.count == 24 }, "\(origin.requests.count) are served")
            #expect(try proxy.exchange(Self.request(origin)).status == 503)
            gate.open()
            for wire in wires { #expect(try wire.readResponse().status == 200) }
        }
    }

    @Test func `silent clients of all threads make room for others`() throws {
        let origin = try RecordingOrigin.answering()
        let rules = "limits { clients 20 }\ntimeouts { head 300s }"
        try AttacheProcess.running(rules, setting: .init(threads: 4)) { proxy throws in
            let silent = try (1...400).map { _ in try proxy.connect() }
            #expect(try Self.haveArrived(400, at: proxy))
            for _ in 1...40 { #expect(try proxy.get(origin.url()).status == 200) }
            #expect(try proxy.metric("attache_clients_open") <= 20)
            #expect(silent.count == 400)
        }
    }

    /// Two silent clients are on two of four threads at most, and the third comes to any of them.
    @Test func `a silent client of another thread makes room where the own one has none`() throws {
        let origin = try RecordingOrigin.answering()
        let rules = "limits { clients 2 }\ntimeouts { head 300s }"
        try AttacheProcess.running(rules, setting: .init(threads: 4)) { proxy throws in
            for _ in 1...12 {
                let before = try proxy.metric("attache_clients_total")
                let silent = try (1...2).map { _ in try proxy.connect() }
                #expect(try Self.haveArrived(before + 2, at: proxy))
                #expect(try proxy.get(origin.url()).status == 200)
                #expect(silent.count == 2)
            }
        }
    }

    @Test func `an address that may not connect is refused before anything else, before TLS too`() throws {
        let origin = try RecordingOrigin.answering()
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost")))
        let port = FreePort.take()
        var setting = AttacheProcess.Setting(clients: "allow 192.0.2.0/24")
        setting.files = ["proxy.pem": Scratch.read(identity.chain), "proxy.key": Scratch.read(identity.leaf.key)]
        let rules = """
            listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key
            timeouts { head 300s; idle 300s }
            """
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let refused = try proxy.exchange(Self.request(origin))
            #expect(refused.status == 403)
            #expect(refused["Connection"] == "close")
            #expect(refused.text.contains("127.0.0.1"))
            // Nothing is said, and nothing is waited for.
            #expect(try Wire(to: port).readToEnd() == [])
            // The first bytes are enough for an answer, and a great many change nothing.
            let wire = try proxy.connect()
            try wire.send("P")
            #expect(try wire.readResponse().status == 403)
            for _ in 1...100 { _ = try proxy.connect() }
            #expect(try proxy.exchange(Self.request(origin)).status == 403)
            #expect(origin.connections == 0)
            #expect(try proxy.records(atLeast: 3).allSatisfy { $0["client"] == "127.0.0.1" && $0.status == 403 })
            #expect(try proxy.metric("attache_clients_refused_total{reason=\"address\"}") >= 104)
            #expect(try proxy.metric("attache_clients_total") == 0)
            #expect(proxy.errorOutput.components(separatedBy: "to allow it, add").count == 2)
        }
    }

    @Test func `clients that do not come to the end of a handshake make room as well`() throws {
        let origin = try RecordingOrigin.answering()
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost")))
        let port = FreePort.take()
        var setting = AttacheProcess.Setting(threads: 1)
        setting.files = ["proxy.pem": Scratch.read(identity.chain), "proxy.key": Scratch.read(identity.leaf.key)]
        let rules = """
            listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key
            limits { clients 6 }
            timeouts { head 300s }
            """
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            // Its listeners are there.
            #expect(try proxy.get(origin.url()).status == 200)
            // Nothing, the beginning of a first record, and a first record that is the beginning of a hello.
            let parts: [[UInt8]] = [[], [0x16, 3, 1, 2, 0, 1], [0x16, 3, 1, 0, 4, 1, 0, 2, 0]]
            let wires = try (0..<30).map { number in
                let wire = try Wire(to: port)
                try wire.send(parts[number % 3])
                return wire
            }
            #expect(try Self.haveArrived(31, at: proxy))
            let root = try Hierarchy.shared().root.certificate
            for _ in 1...3 {
                let options = ["-x", "https://localhost:\(port)", "--proxy-cacert", root]
                #expect(try Curl.fetch(origin.url(), options).status == 200)
            }
            #expect(try wires[0].isEnded())
            #expect(try proxy.metric("attache_clients_open") <= 6)
        }
    }

    @Test func `limits that a reload lowers hold for the next client`() throws {
        let origin = try RecordingOrigin.answering()
        let setting = AttacheProcess.Setting(threads: 1)
        try AttacheProcess.running("limits { clients 10 }\ntimeouts { idle 300s }", setting: setting) { proxy throws in
            let idle = try (1...8).map { _ in try Self.idle(origin, at: proxy) }
            try proxy.reload("limits { clients 3 }\ntimeouts { idle 300s }")
            #expect(proxy.awaitErrorOutput("the rule file was reloaded"))
            #expect(try proxy.metric("attache_clients_open") == 8)
            let last = try Self.idle(origin, at: proxy)
            #expect(try proxy.metric("attache_clients_open") == 3)
            for wire in idle.prefix(6) { #expect(try wire.isEnded()) }
            for wire in idle.suffix(2) + [last] {
                try wire.send(Self.request(origin))
                #expect(try wire.readResponse().status == 200)
            }
        }
    }

    @Test func `the administrator's listener answers whatever the clients do`() throws {
        let setting = AttacheProcess.Setting(threads: 1, descriptors: 128)
        try AttacheProcess.running("timeouts { head 300s }", setting: setting) { proxy throws in
            #expect(proxy.awaitErrorOutput("the admin listener is on"))
            let silent = try (1...300).map { _ in try proxy.connect() }
            let admin = try (1...30).map { number in
                let wire = try Wire(to: proxy.adminPort)
                if number > 10 { try wire.send("GET /healthz HT") }
                return wire
            }
            #expect(try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/healthz").status == 200)
            #expect(silent.count + admin.count == 330)
            #expect(proxy.awaitErrorOutput("limits clients 10000 needs"))
            #expect(proxy.errorOutput.contains("the system allows 128"))
        }
    }

    // MARK: - Clients that are not on this machine's loopback

    private static let isReachable: ConditionTrait = .enabled(
        if: MachineAddress.other != nil, "this machine has no address besides loopback")

    /// A proxy that listens on another address of this machine as well.
    private static func runningOutside(
        _ rules: String = "", clients: String,
        _ body: (_ proxy: AttacheProcess, _ host: String, _ port: UInt16) throws -> Void
    ) throws {
        let host = try #require(MachineAddress.other)
        let setting = AttacheProcess.Setting(clients: clients, threads: 1)
        try AttacheProcess.running("listen \(host):0\n\(rules)", setting: setting) { proxy throws in
            try body(proxy, host, try #require(proxy.port(listeningAt: host)))
        }
    }

    @Test(isReachable)
    func `a client of another address is refused by its address, with the line that to allow it, add`() throws {
        let origin = try RecordingOrigin.answering()
        try Self.runningOutside(clients: "allow 127.0.0.0/8") { proxy, host, port throws in
            let wire = try Wire(to: port, at: host)
            try wire.send(Self.request(origin))
            let refused = try wire.readResponse()
            #expect(refused.status == 403)
            #expect(refused["Connection"] == "close")
            #expect(refused.text.contains("allow \(host)\n"), "\(refused.text)")
            #expect(
                proxy.awaitErrorOutput("a client at \(host) was refused; to allow it, add: clients { allow \(host) }"))
            #expect(try proxy.records().first?["client"] == host)
            #expect(try proxy.metric("attache_clients_refused_total{reason=\"address\"}") == 1)
            #expect(origin.connections == 0)
            #expect(try proxy.get(origin.url()).status == 200)
        }
        let line = "allow 127.0.0.0/8 \(try #require(MachineAddress.other))"
        try Self.runningOutside(clients: line) { _, host, port throws in
            let wire = try Wire(to: port, at: host)
            try wire.send(Self.request(origin))
            #expect(try wire.readResponse().status == 200)
        }
    }

    @Test(isReachable)
    func `clients of one address have a limit of their own, and those of this machine are not among them`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, connection in
            gate.wait()
            try connection.reply(body: "ok")
        }
        let limits = "limits { clients 40; clients-per-address 3 }"
        try Self.runningOutside(limits, clients: "allow 0.0.0.0/0") { proxy, host, port throws in
            let served = try (1...3).map { _ in
                let wire = try Wire(to: port, at: host)
                try wire.send(Self.request(origin))
                return wire
            }
            #expect(Wait.until { origin.requests.count == 3 })
            let fourth = try Wire(to: port, at: host)
            try fourth.send(Self.request(origin))
            #expect(try fourth.readResponse().status == 503)
            #expect(try proxy.metric("attache_clients_refused_total{reason=\"address-limit\"}") == 1)
            #expect(proxy.errorOutput.contains("\(host) has reached the limit"))
            let near = try (1...5).map { _ in
                let wire = try proxy.connect()
                try wire.send(Self.request(origin))
                return wire
            }
            #expect(Wait.until { origin.requests.count == 8 })
            gate.open()
            for wire in served + near { #expect(try wire.readResponse().status == 200) }
            // Who is idle makes room for another of the same address.
            let fifth = try Wire(to: port, at: host)
            try fifth.send(Self.request(origin))
            #expect(try fifth.readResponse().status == 200)
        }
    }
}
