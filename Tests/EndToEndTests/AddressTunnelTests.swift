import Foundation
import TestSupport
import Testing

/// Tunnels to an address, in which the client names its server: the name counts if it is proved for that address.
struct AddressTunnelTests {
    private static func hosts() throws -> String {
        let path = Scratch.folder("hosts") + "/hosts"
        try Scratch.write("127.0.0.1 ci.example.test\n192.0.2.66 bank.example.test\n", to: path)
        return path
    }

    /// Runs a proxy that speaks SOCKS, too, with the account of the harness for these names.
    private func answering(
        _ hosts: String, at port: UInt16, rules: String = "",
        _ body: (_ proxy: AttacheProcess, _ ways: [[String]]) throws -> Void
    ) throws {
        let place = FreePort.take()
        defer { FreePort.release(place) }
        var setting = AttacheProcess.Setting(threads: 1)
        setting.environment["CARES_HOSTS"] = try Self.hosts()
        setting.environment["SSL_CERT_FILE"] = try Hierarchy.shared().root.certificate
        setting.environment["SSL_CERT_DIR"] = Scratch.folder("no-anchors")
        let text = """
            listen 127.0.0.1:\(place) socks
            credential web { user \(Account.user); password file @/password }
            challenge { host \(hosts); port \(port); use web }
            \(rules)
            """
        try AttacheProcess.running(text, setting: setting) { proxy throws in
            // curl resolves the name itself, or its option says the address.
            try body(proxy, [["--socks5", "127.0.0.1:\(place)"], ["-p", "-x", proxy.address]])
        }
    }

    private func fetch(_ host: String, _ port: UInt16, _ scheme: String, _ way: [String]) throws -> Fetched {
        let address =
            way[0] == "-p"
            ? ["--connect-to", "\(host):\(port):127.0.0.1:\(port)"] : ["--resolve", "\(host):\(port):127.0.0.1"]
        return try Curl.fetch("\(scheme)://\(host):\(port)/", way + address)
    }

    @Test func `a name that DNS gives the address counts, by http`() throws {
        let origin = try GuardedOrigin(.digest)
        let port = origin.origin.port
        try answering("ci.example.test", at: port, rules: "route ci.example.test { intercept }") { proxy, ways throws in
            for way in ways {
                let fetched = try fetch("ci.example.test", port, "http", way)
                #expect(fetched.status == 200, "\(way) \(fetched)")
            }
            let records = try proxy.records(atLeast: 4)
            let inside = records.filter { $0["method"] == "GET" }
            #expect(
                inside.allSatisfy { $0["target"] == "http://ci.example.test:\(port)/" && $0["credential"] == "web" })
            #expect(records.filter { $0["method"] == "CONNECT" }.allSatisfy { $0["target"] == "127.0.0.1:\(port)" })
            // No route is about another name: its tunnel is passed on unseen.
            let other = try fetch("bank.example.test", port, "http", ways[0])
            #expect(other.status == 401, "\(other)")
        }
    }

    @Test(arguments: ["route * { intercept }", "route bank.example.test { intercept }"])
    func `a forged Host at another address gets no credential`(route: String) throws {
        let origin = try GuardedOrigin(.digest)
        let port = origin.origin.port
        try answering("bank.example.test", at: port, rules: route) { proxy, ways throws in
            for way in ways {
                let forged = try fetch("bank.example.test", port, "http", way)
                #expect(forged.status == (route.contains("*") ? 421 : 401), "\(way) \(forged)")
            }
            #expect(origin.origin.messages.allSatisfy { $0["Authorization"] == nil })
        }
    }

    @Test func `a name that the server's certificate proves counts, by https`() throws {
        let origin = try GuardedOrigin(.digest)
        let front = try TLSTerminator(to: origin.origin.port)
        let host = TLSFront.host
        // DNS does not know this name.
        try answering(host, at: front.port, rules: "route \(host) { intercept }") { proxy, ways throws in
            for way in ways {
                let fetched = try fetch(host, front.port, "https", way + ["--cacert", proxy.folder + "/ca.pem"])
                #expect(fetched.status == 200, "\(way) \(fetched)")
            }
            let inside = try proxy.records(atLeast: 4).filter { $0["method"] == "GET" }
            #expect(inside.count == 2)
            #expect(inside.allSatisfy { $0["target"] == "https://\(host):\(front.port)/" && $0["credential"] == "web" })
        }
    }

    @Test func `a certificate for another name, or one that is only forgiven, proves nothing`() throws {
        let origin = try GuardedOrigin(.digest)
        let front = try TLSTerminator(to: origin.origin.port)
        let rules = """
            challenge { host bank.example.test ci.example.test; method server-trust; allow wrong-name; trust }
            route *.example.test { intercept }
            """
        try answering("*.example.test", at: front.port, rules: rules) { proxy, ways throws in
            for way in ways {
                let way = way + ["--cacert", proxy.folder + "/ca.pem"]
                #expect(try fetch("pay.example.test", front.port, "https", way).status == 502)
                #expect(try fetch("bank.example.test", front.port, "https", way).status == 421)
                #expect(origin.origin.messages.allSatisfy { $0["Host"]?.hasPrefix("ci.") == true })
                // DNS gives this name the address.
                let proved = try fetch("ci.example.test", front.port, "https", way)
                #expect(proved.status == 200, "\(way) \(proved)")
            }
        }
    }

    @Test func `a tunnel whose route relays it still says if its server is not there`() throws {
        let closed = FreePort.take()
        defer { FreePort.release(closed) }
        try answering("ci.example.test", at: closed, rules: "route ci.example.test { intercept }") { proxy, _ throws in
            let answer = try proxy.exchange(
                "CONNECT 127.0.0.1:\(closed) HTTP/1.1\r\nHost: a\r\n\r\n", method: "CONNECT")
            #expect(answer.status == 502, "\(answer)")
        }
    }
}
