import Foundation
import Testing

/// A squid that takes tickets of an MIT KDC.
struct ParentNegotiateTests {
    private func logging(
        in demand: SquidServer.Demand, method: String = "negotiate",
        _ body: (AttacheProcess, SquidServer) throws -> Void
    ) throws {
        let (squid, realm) = (try SquidServer.shared(demand), try KerberosRealm.shared())
        let rules = """
            credential svc { kerberos \(realm.principal("alice")); keytab \(realm.keytab("alice")) }
            credential corp { user \(Account.user); password file @/password }
            parent corp { http localhost:\(squid.port) }
            challenge { proxy yes; method \(method); use \(method == "negotiate" ? "svc" : "corp") }
            challenge { proxy no; host 127.0.0.1; use corp }
            route 127.0.0.1 { via corp }
            """
        try AttacheProcess.running(rules, setting: .init(environment: realm.environment)) { try body($0, squid) }
    }

    @Test(arguments: [SquidServer.Demand.negotiate, .everything])
    func `a ticket logs in at the parent, for requests and for tunnels`(demand: SquidServer.Demand) throws {
        let apache = try ApacheServer.shared()
        try logging(in: demand) { proxy, squid throws in
            let mark = ApacheServer.mark()
            for path in ["open", "open", "steady"] {
                let fetched = try proxy.get(apache.url("/\(path)/?\(mark)"))
                #expect(fetched.status == 200, "\(fetched) \(proxy.errorOutput)")
            }
            let secure = try proxy.get("https://127.0.0.1:\(apache.securePorts.three)/open/", "-k")
            #expect(secure.status == 200, "\(secure)")
            let record = try #require(try proxy.records(atLeast: 4).first)
            #expect(record["parent_scheme"] == "negotiate")
            #expect(record["parent_credential"] == "svc")
            let users = squid.entries(marked: mark).filter { $0.status == 200 }.map(\.user)
            #expect(users.allSatisfy { $0.hasPrefix("alice@") }, "\(users)")
        }
    }

    @Test(arguments: ["ntlm", "digest", "basic"])
    func `of four schemes the one that a rule speaks of is answered`(method: String) throws {
        let apache = try ApacheServer.shared()
        try logging(in: .everything, method: method) { proxy, squid throws in
            for _ in 1...2 { #expect(try proxy.get(apache.url("/open/")).status == 200) }
            #expect(try proxy.records(atLeast: 2).allSatisfy { $0["parent_scheme"] == method })
        }
    }

    @Test func `1 MiB arrives once and whole`() throws {
        let apache = try ApacheServer.shared()
        let file = try Payload.file(bytes: 1 << 20)
        let expected = "\(1 << 20) \(try Hash.sha256(ofFile: file))"
        try logging(in: .negotiate) { proxy, squid throws in
            for (pass, framing) in [["-H", "Expect:"], ["-H", "Transfer-Encoding: chunked", "-H", "Expect:"]]
                .enumerated()
            {
                let mark = ApacheServer.mark() + "-\(pass)"
                let sent = try Curl.fetch(
                    apache.url("/open/upload.cgi?\(mark)"), ["-x", proxy.address, "-X", "POST", "-T", file] + framing)
                #expect(sent.status == 200, "\(sent)")
                #expect(try Payload.arrivals(at: apache, marked: mark) == [expected])
            }
        }
    }
}
