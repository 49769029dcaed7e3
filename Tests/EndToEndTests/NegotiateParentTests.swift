import Foundation
import TestSupport
import Testing

/// Negotiate at a parent proxy: the ticket is for the proxy's host, and for none behind it.
struct NegotiateParentTests {
    private static let started = Result { try KerberosSquid(in: .shared()) }

    private func asking(_ body: (AttacheProcess, KerberosSquid) throws -> Void) throws {
        let (realm, parent) = (try KerberosRealm.shared(), try Self.started.get())
        let rules = """
            credential svc { kerberos \(realm.principal("alice")); keytab \(realm.keytab("alice")) }
            parent corp { http localhost:\(parent.port) }
            challenge { proxy yes; method negotiate; use svc }
            route * { via corp }
            """
        try AttacheProcess.running(rules, setting: .init(environment: realm.environment)) { try body($0, parent) }
    }

    @Test func `requests, uploads and tunnels go through with tickets for the parent`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let file = try Payload.file(bytes: 1 << 20)
        try asking { proxy, parent throws in
            for _ in 1...2 {
                let fetched = try proxy.get(apache.url("/open/?\(mark)"))
                #expect(fetched.status == 200, "\(fetched) \(proxy.errorOutput)")
            }
            let sent = try proxy.get(apache.url("/open/upload.cgi?\(mark)"), "-X", "POST", "-T", file)
            #expect(sent.text == "\(1 << 20) \(try Hash.sha256(ofFile: file))\n", "\(sent)")
            let tunnelled = try proxy.get(apache.url("/open/?\(mark)"), "-p")
            #expect(tunnelled.status == 200, "\(tunnelled)")
            let user = (try KerberosRealm.shared()).principal("alice")
            let entries = parent.entries(marked: mark, atLeast: 3).filter { $0.contains(" 200 ") }
            #expect(entries.count == 3)
            #expect(entries.allSatisfy { $0.hasSuffix(user) }, "\(entries)")
            // A tunnel's entry is written when it has ended.
            #expect(Wait.until { parent.entries(marked: "127.0.0.1:\(apache.port)").contains("CONNECT 200 \(user)") })
        }
    }
}
