import Foundation
import Synchronization
import Testing

/// Negotiate against an origin of our own that ends logins as servers do, rightly and not.
struct NegotiateGuardTests {
    private static func rules(_ realm: KerberosRealm, host: String, more: String = "") -> String {
        """
        credential svc { kerberos \(realm.principal("alice")); keytab \(realm.keytab("alice")) }
        challenge { host \(host); method negotiate; spn HTTP/localhost; use svc; \(more) }
        """
    }

    private func guarding(
        _ terms: NegotiateGuard.Terms, _ body: (AttacheProcess, RecordingOrigin, NegotiateGuard) throws -> Void
    ) throws {
        let realm = try KerberosRealm.shared()
        let sentry = try NegotiateGuard(terms, in: realm)
        let origin = try RecordingOrigin { try sentry.serve($0) }
        try AttacheProcess.running(
            Self.rules(realm, host: "127.0.0.1"), setting: .init(environment: realm.environment)
        ) { try body($0, origin, sentry) }
    }

    /// Makes `count` requests of one client, one after the other, and returns their statuses.
    private func fetch(_ count: Int, _ origin: RecordingOrigin, _ proxy: AttacheProcess) throws -> [String] {
        let urls = Array(repeating: [origin.url(), "-o", "/dev/null"], count: count).flatMap { $0 }
        let run = try Finished.run(
            "curl", ["-q", "-sS", "-m", "60", "-x", proxy.address, "-w", "%{http_code}\n"] + urls)
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [NegotiateGuard.Ending.proved, .silent])
    func `a login holds for the connection, whether the server proves itself or not`(
        ending: NegotiateGuard.Ending
    ) throws {
        try guarding(.init(ending: ending)) { proxy, origin, sentry throws in
            #expect(try fetch(5, origin, proxy) == Array(repeating: "200", count: 5))
            #expect(sentry.principals == ["alice@ATTACHE.TEST"])
            #expect(sentry.refusals == [])
            #expect(origin.messages.count == 6)
        }
    }

    @Test func `a server that says that a login does not last is not relied on`() throws {
        try guarding(.init(losesLogin: true)) { proxy, origin, sentry throws in
            #expect(try fetch(5, origin, proxy) == Array(repeating: "200", count: 5))
            #expect(sentry.principals.count == 5)
            #expect(sentry.refusals == [])
            #expect(origin.messages.count == 6)
            #expect(origin.connections == 1)
        }
    }

    @Test(arguments: 1...3)
    func `a server that ends connections after a few requests is met on new ones`(count: Int) throws {
        try guarding(.init(closesEvery: count)) { proxy, origin, sentry throws in
            #expect(try fetch(6, origin, proxy) == Array(repeating: "200", count: 6))
            #expect(sentry.refusals == [])
        }
    }

    @Test func `a server that cannot prove itself is not believed`() throws {
        try guarding(.init(ending: .forged)) { proxy, origin, sentry throws in
            let fetched = try proxy.get(origin.url())
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("could not prove that it is the service of the ticket"), "\(fetched)")
            #expect(origin.messages.count == 2)
        }
    }

    @Test func `a last token in a refusal is no reason to go on`() throws {
        try guarding(.init(ending: .denied)) { proxy, origin, sentry throws in
            for _ in 1...2 {
                let fetched = try proxy.get(origin.url())
                #expect(fetched.status == 401)
                #expect(fetched["Proxy-Status"]?.contains("did not accept the negotiate login") == true, "\(fetched)")
            }
            #expect(sentry.principals.count == 2)
            #expect(origin.messages.count <= 4)
            #expect(!proxy.errorOutput.contains("was refused"))
        }
    }

    @Test(arguments: Entrance.allCases, [true, false])
    func `a login over TLS is bound to the certificate`(entrance: Entrance, isSame: Bool) throws {
        let realm = try KerberosRealm.shared()
        // The guard has to know the certificate, and the terminator the guard's port.
        let standing = Mutex<NegotiateGuard?>(nil)
        let origin = try RecordingOrigin { connection in try standing.withLock { $0 }?.serve(connection) }
        let terminator = try TLSTerminator(to: origin.port)
        let digits = try terminator.fingerprint()
        var hash = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(digits.dropFirst($0).prefix(2), radix: 16)
        }
        if !isSame { hash[0] ^= 1 }
        let channel = Array("tls-server-end-point:".utf8) + hash
        let sentry = try NegotiateGuard(.init(channel: channel), in: realm)
        standing.withLock { $0 = sentry }
        let setting = AttacheProcess.Setting(threads: 1, environment: realm.environment)
        try AttacheProcess.visitingZoo(Self.rules(realm, host: TLSFront.host), setting: setting) { proxy throws in
            let fetched = try proxy.visit(terminator.authority, by: entrance, ["-d", "some content"])
            #expect(fetched.status == (isSame ? 200 : 401), "\(fetched)")
            #expect(sentry.principals.isEmpty == !isSame)
            #expect(sentry.refusals.isEmpty == isSame)
        }
    }
}
