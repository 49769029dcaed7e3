import Foundation
import TestSupport
import Testing

/// A request with a stricter rule never rides a connection, or a session, that was made under an exception.
struct TrustIsolationTests {
    private static let exception = "host expired.example.test; method server-trust; allow expired; trust"

    @Test(arguments: Entrance.allCases)
    func `an exception for one address is none for another`(entrance: Entrance) throws {
        let expired = try Specimen["expired"]
        let rule = "challenge \"exception\" { client 127.0.0.2; \(Self.exception) }"
        try AttacheProcess.visitingZoo(rule) { proxy throws in
            let mark = ApacheServer.mark()
            for _ in 1...3 {
                let permitted = try proxy.visit(expired, "/?\(mark)-yes", by: entrance, "--interface", "127.0.0.2")
                #expect(permitted.status == 200, "\(permitted)")
                let refused = try proxy.visit(expired, "/?\(mark)-no", by: entrance)
                #expect(refused.status == 502, "\(refused)")
            }
            let targets = try Zoo.shared().server.entries(marked: mark, atLeast: 3).map(\.target)
            #expect(targets == Array(repeating: "/?\(mark)-yes", count: 3))
        }
    }

    @Test(arguments: Entrance.allCases)
    func `an exception for one user is none for another`(entrance: Entrance) throws {
        let expired = try Specimen["expired"]
        let hash = try UsersLines.of("alice", "bob")
        var setting = AttacheProcess.Setting(threads: 1, files: ["users": hash])
        setting.clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        let rule = "challenge { client \"alice\"; \(Self.exception) }"
        try AttacheProcess.visitingZoo(rule, setting: setting) { proxy throws in
            let visit = { (user: String) in
                let login = ["--proxy-user", "\(user):\(Account.clientPassword)"]
                return try proxy.visit(Zoo.shared().authority(of: expired), by: entrance, login).status
            }
            for _ in 1...3 {
                #expect(try visit("alice") == 200)
                #expect(try visit("bob") == 502)
            }
        }
    }

    @Test(arguments: Entrance.allCases)
    func `an exception that is taken back holds for no kept connection and no session`(entrance: Entrance) throws {
        let expired = try Specimen["expired"]
        let rule = "challenge { \(Self.exception) }\n"
        try AttacheProcess.visitingZoo(rule) { proxy throws in
            for _ in 1...2 { #expect(try proxy.visit(expired, by: entrance).status == 200) }
            try proxy.reload(AttacheProcess.routesToZoo)
            let isRefused = try Wait.until { try proxy.visit(expired, by: entrance).status == 502 }
            #expect(isRefused, "\(proxy.errorOutput)")
            for _ in 1...3 { #expect(try proxy.visit(expired, by: entrance).status == 502) }
        }
    }

    @Test func `a pin that comes with a reload is asked of connections that exist`() throws {
        let good = try Specimen["good"]
        let wrong = try Zoo.shared().identity(of: Specimen["rsa"]).leaf.pin()
        try AttacheProcess.visitingZoo { proxy throws in
            for _ in 1...2 { #expect(try proxy.visit(good, by: .upgraded).status == 200) }
            let rule = "challenge { host \(good.host); method server-trust; pin \(wrong); trust }\n"
            try proxy.reload(rule + AttacheProcess.routesToZoo)
            let isRefused = try Wait.until { try proxy.visit(good, by: .upgraded).status == 502 }
            #expect(isRefused, "\(proxy.errorOutput)")
            for _ in 1...3 { #expect(try proxy.visit(good, by: .upgraded).status == 502) }
        }
    }

    @Test func `a revocation that comes with a reload is asked of connections that exist`() throws {
        let revoked = try Specimen["revoked"]
        let hierarchy = try Zoo.shared().hierarchy
        let list = try IssuedCertificate.bundle([hierarchy.issuing.revocationList(), hierarchy.root.revocationList()])
        try AttacheProcess.visitingZoo { proxy throws in
            for _ in 1...2 { #expect(try proxy.visit(revoked, by: .upgraded).status == 200) }
            try proxy.reload("route *.example.test { upgrade; tls revocation \(list) }")
            let isRefused = try Wait.until { try proxy.visit(revoked, by: .upgraded).status == 502 }
            #expect(isRefused, "\(proxy.errorOutput)")
            for _ in 1...3 { #expect(try proxy.visit(revoked, by: .upgraded).status == 502) }
        }
    }

    @Test func `connections under the same rule are kept, and sessions resumed`() throws {
        let expired = try Specimen["expired"]
        let mark = ApacheServer.mark()
        try AttacheProcess.visitingZoo("challenge { \(Self.exception) }") { proxy throws in
            for _ in 1...3 { #expect(try proxy.visit(expired, "/?\(mark)-kept", by: .upgraded).status == 200) }
            for _ in 1...3 { #expect(try proxy.visit(expired, "/close?\(mark)-new", by: .upgraded).status == 200) }
            let server = try Zoo.shared().server
            let kept = server.entries(marked: mark + "-kept", atLeast: 3)
            #expect(Set(kept.map(\.connection)).count == 1, "\(kept)")
            let new = server.entries(marked: mark + "-new", atLeast: 3)
            #expect(Set(new.map(\.connection)).count == 3)
            #expect(new.last?.isResumed == true)
        }
    }

    @Test func `an exception for a parent is none for the same server as an origin`() throws {
        let expired = try Specimen["expired"]
        let rules = """
            parent zoo { https \(try Zoo.shared().authority(of: expired)) }
            route relayed.test { via zoo }
            challenge { proxy yes; \(Self.exception) }
            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for _ in 1...2 {
                // A server that is not a proxy may respond with anything: it was trusted.
                let relayed = try proxy.get("http://relayed.test/close")
                #expect(relayed["Proxy-Status"]?.contains("error=") != true, "\(relayed)")
                #expect(try proxy.visit(expired, by: .upgraded).status == 502)
            }
        }
    }
}
