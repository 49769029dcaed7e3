import Foundation
import TestSupport
import Testing

/// Negotiate while keys change and the KDC comes and goes. Each test has a realm and a server of its own.
struct KerberosFaultTests {
    private func logging(
        in realm: KerberosRealm, _ more: String = "", _ body: (AttacheProcess, KerberosServer) throws -> Void
    ) throws {
        let server = try KerberosServer(in: realm)
        let rules = """
            credential svc { kerberos \(realm.principal("alice")); keytab \(realm.keytab("alice")) }
            challenge { host localhost; method negotiate; use svc }
            \(more)
            """
        try AttacheProcess.running(rules, setting: .init(environment: realm.environment)) { try body($0, server) }
    }

    @Test func `with the KDC away held tickets go on, others fail with one sentence, and all recovers by itself`()
        throws
    {
        let realm = try KerberosRealm()
        let more = """
            credential other { kerberos \(realm.principal("bob")); keytab \(realm.keytab("bob")) }
            challenge { host 127.0.0.1; spn HTTP/localhost; use other }
            """
        try logging(in: realm, more) { proxy, server throws in
            #expect(try proxy.get(server.url("/request/")).status == 200, "\(proxy.errorOutput)")
            realm.stopKDC()
            let others = "http://127.0.0.1:\(server.port)/request/"
            for _ in 1...3 {
                #expect(
                    try Parallel.fetch(8, server.url("/request/"), through: proxy) == Array(repeating: 200, count: 8))
                let fetched = try proxy.get(others)
                #expect(fetched.status == 502)
                let sentence =
                    "credential other has no ticket for HTTP/localhost: no KDC of ATTACHE.TEST can be reached"
                #expect(fetched.text.contains(sentence), "\(fetched)")
            }
            #expect(
                proxy.awaitErrorOutput(
                    "cannot get a ticket for credential other: no KDC of ATTACHE.TEST can be reached"))
            try realm.startKDC()
            let recovers = try Wait.until { try proxy.get(others).status == 200 }
            #expect(recovers, "\(proxy.errorOutput)")
            #expect(!proxy.errorOutput.contains("was refused"))
        }
    }

    @Test func `an operator sees when tickets end`() throws {
        let realm = try KerberosRealm()
        try logging(in: realm) { proxy, server throws in
            let name = "attache_expiry_timestamp_seconds{kind=\"Kerberos ticket\",name=\"svc\",place=\"\"}"
            #expect(try !Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics").text.contains("Kerberos ticket"))
            let before = Int(Date().timeIntervalSince1970)
            #expect(try proxy.get(server.url("/request/")).status == 200, "\(proxy.errorOutput)")
            #expect(try proxy.metric(name) > before)
            let status = try Finished.run(
                AttacheBinary.path, ["status", "--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
            #expect(status.output.contains("Z Kerberos ticket svc\n"), "\(status)")
        }
    }

    @Test func `a KDC that says nothing is waited for as long as a connection, and held tickets go on`() throws {
        let realm = try KerberosRealm()
        let more = """
            timeouts { connect 5s }
            credential other { kerberos \(realm.principal("bob")); keytab \(realm.keytab("bob")) }
            challenge { host 127.0.0.1; spn HTTP/localhost; use other }
            """
        try logging(in: realm, more) { proxy, server throws in
            #expect(try proxy.get(server.url("/request/")).status == 200, "\(proxy.errorOutput)")
            try realm.silenceKDC()
            let others = "http://127.0.0.1:\(server.port)/request/"
            // The library may give up in between, which has other words.
            for words in ["no KDC of ATTACHE.TEST answers within 5 s", "no KDC of ATTACHE.TEST"] {
                let fetched = try proxy.get(others)
                #expect(fetched.status == 502)
                let sentence = "credential other has no ticket for HTTP/localhost: \(words)"
                #expect(fetched.text.contains(sentence), "\(fetched)")
                #expect(
                    try Parallel.fetch(8, server.url("/request/"), through: proxy) == Array(repeating: 200, count: 8))
            }
            #expect(proxy.awaitErrorOutput("cannot get a ticket for credential other: no KDC of ATTACHE.TEST"))
            try realm.startKDC()
            let recovers = try Wait.until(seconds: 60) { try proxy.get(others).status == 200 }
            #expect(recovers, "\(proxy.errorOutput)")
            #expect(!proxy.errorOutput.contains("was refused"))
        }
    }

    @Test func `a ticket that is given away is waited for no longer either`() throws {
        let realm = try KerberosRealm()
        let server = try KerberosServer(in: realm)
        let rules = """
            timeouts { connect 5s }
            credential svc { kerberos \(realm.principal("alice")); keytab \(realm.keytab("alice")) }
            challenge { host localhost; use svc; delegate yes }
            """
        try AttacheProcess.running(rules, setting: .init(environment: realm.environment)) { proxy throws in
            #expect(try proxy.get(server.url("/delegation/")).status == 200, "\(proxy.errorOutput)")
            try realm.silenceKDC()
            let fetched = try proxy.get(server.url("/delegation/"))
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("no KDC of ATTACHE.TEST answers within 5 s"), "\(fetched)")
        }
    }

    @Test func `a keytab that the KDC refuses is shown once, and one that replaces it is picked up`() throws {
        let realm = try KerberosRealm()
        let old = Scratch.bytes(realm.keytab("alice"))
        unlink(realm.keytab("alice"))
        try realm.administer("ktadd -k \(realm.keytab("alice")) alice")
        let new = Scratch.bytes(realm.keytab("alice"))
        let replace = { (bytes: [UInt8]) throws in
            let path = realm.keytab("alice")
            try Data(bytes).write(to: URL(fileURLWithPath: path + ".new"))
            rename(path + ".new", path)
        }
        try replace(old)
        try logging(in: realm) { proxy, server throws in
            for _ in 1...3 { #expect(try proxy.get(server.url("/request/")).status == 401) }
            #expect(realm.requests("PREAUTH_FAILED", of: "alice").count == 1)
            #expect(proxy.awaitErrorOutput("the KDC refused the key of alice@ATTACHE.TEST"), "\(proxy.errorOutput)")
            try replace(new)
            let isUnparked = try Wait.until { try proxy.get(server.url("/request/")).status == 200 }
            #expect(isUnparked, "\(proxy.errorOutput)")
        }
    }

    @Test func `a password that the KDC refuses is shown to it again when it is set again, or on demand`() throws {
        let realm = try KerberosRealm()
        let server = try KerberosServer(in: realm)
        let rules = """
            credential bob { kerberos \(realm.principal("bob")); password file @/password }
            challenge { host localhost; use bob }
            """
        let setting = AttacheProcess.Setting(environment: realm.environment, files: ["password": "not yet\n"])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let refused = { realm.requests("PREAUTH_FAILED", of: "bob").count }
            for _ in 1...2 { #expect(try proxy.get(server.url("/bob/")).status == 401) }
            #expect(refused() == 1)
            let run = try Finished.run(
                AttacheBinary.path, ["credential", "retry", "--config", "proxy.conf"], directory: proxy.folder,
                seconds: 20)
            #expect(run.succeeded, "\(run)")
            for _ in 1...2 { #expect(try proxy.get(server.url("/bob/")).status == 401) }
            #expect(refused() == 2)
            // The password is as the file has it now, and the file is written once more.
            try realm.administer("cpw -pw \"not yet\" bob")
            #expect(try proxy.get(server.url("/bob/")).status == 401)
            try proxy.replace("password", with: "not yet\n")
            #expect(try Wait.until { try proxy.get(server.url("/bob/")).status == 200 }, "\(proxy.errorOutput)")
            #expect(refused() == 2)
        }
    }

    @Test func `a keytab that is rotated is picked up, also by a connection that is logged in`() throws {
        let realm = try KerberosRealm()
        try logging(in: realm) { proxy, server throws in
            let issued = { realm.requests("AS_REQ", of: "alice").filter { $0.contains("ISSUE") }.count }
            let wire = try proxy.connect()
            let fetch = { () throws in
                try wire.send("GET \(server.url("/connection/")) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
                return try wire.readResponse().status
            }
            #expect(try fetch() == 200)
            let before = issued()
            try realm.rotate("alice", in: realm.keytab("alice"))
            var statuses: Set<Int> = []
            let isPickedUp = try Wait.until {
                statuses.insert(try fetch())
                return issued() > before
            }
            #expect(isPickedUp, "\(proxy.errorOutput)")
            #expect(statuses == [200])
            #expect(realm.requests("PREAUTH_FAILED", of: "alice").isEmpty)
        }
    }

    @Test func `a service with a new key is met with a new ticket`() throws {
        let realm = try KerberosRealm()
        try logging(in: realm) { proxy, server throws in
            #expect(try proxy.get(server.url("/request/")).status == 200)
            unlink(realm.serviceKeytab)
            try realm.administer("ktadd -k \(realm.serviceKeytab) HTTP/localhost")
            chmod(realm.serviceKeytab, 0o644)
            let recovers = try Wait.until { try proxy.get(server.url("/request/")).status == 200 }
            #expect(recovers, "\(proxy.errorOutput)")
        }
    }

    @Test func `tickets are renewed ahead of their end`() throws {
        let realm = try KerberosRealm(life: "12s")
        try logging(in: realm) { proxy, server throws in
            let before = realm.requests("AS_REQ", of: "alice").filter { $0.contains("ISSUE") }.count
            #expect(try proxy.get(server.url("/request/")).status == 200)
            // No request comes meanwhile.
            let isRenewed = Wait.until {
                realm.requests("AS_REQ", of: "alice").filter { $0.contains("ISSUE") }.count >= before + 2
            }
            #expect(isRenewed)
            realm.stopKDC()
            #expect(try proxy.get(server.url("/request/")).status == 200, "\(proxy.errorOutput)")
        }
    }

    @Test func `a stored password is taken to the KDC where a rule names negotiate, and nowhere else`() throws {
        let realm = try KerberosRealm()
        let server = try KerberosServer(in: realm)
        let rules = """
            store sqlite @/credentials.db
            challenge { host localhost; method negotiate; default }
            """
        try AttacheProcess.running(rules, setting: .init(environment: realm.environment)) { proxy throws in
            let keep = { (host: String, user: String, password: String, method: String) throws in
                try Scratch.write(password + "\n", to: proxy.folder + "/typed", mode: 0o600)
                let run = try Finished.run(
                    AttacheBinary.path,
                    ["credential", "set", "http://\(host):\(server.port)/", user, "--method", method]
                        + ["--config", "proxy.conf"],
                    directory: proxy.folder, input: proxy.folder + "/typed", seconds: 20)
                #expect(run.succeeded, "\(run)")
            }
            #expect(try proxy.get(server.url("/bob/")).status == 401)
            let bob = realm.principal("bob")
            try keep("localhost", bob, Account.wrongPassword, "any")
            let words = "was refused (the KDC refused the password of bob@ATTACHE.TEST)"
            let isRefused = try Wait.until {
                _ = try proxy.get(server.url("/bob/"))
                return proxy.errorOutput.contains(words)
            }
            #expect(isRefused, "\(proxy.errorOutput)")
            #expect(try proxy.get(server.url("/bob/")).status == 401)
            #expect(realm.requests("PREAUTH_FAILED", of: "bob").count == 1)
            try keep("localhost", bob, try #require(Account.principals["bob"]), "negotiate")
            let isUsed = try Wait.until { try proxy.get(server.url("/bob/")).status == 200 }
            #expect(isUsed, "\(proxy.errorOutput)")
            let status = try Finished.run(
                AttacheBinary.path, ["status", "--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
            let held = "Z Kerberos ticket \(bob) of http://localhost:\(server.port)\n"
            #expect(status.output.contains(held), "\(status)")
            // Where no rule says so the password answers what stands beside it.
            try keep("127.0.0.1", Account.user, Account.password, "any")
            let either = "http://127.0.0.1:\(server.port)/either/"
            let isBasic = try Wait.until { try proxy.get(either).status == 200 }
            #expect(isBasic, "\(proxy.errorOutput)")
            let password = Account.password.replacing("/", with: "%2F")
            let ofURL = "http://\(Account.user):\(password)@127.0.0.1:\(server.port)/either/"
            #expect(try proxy.get(ofURL).status == 200)
            #expect(realm.requests("AS_REQ", of: Account.user + "@").isEmpty)
        }
    }

    @Test func `clocks that differ are named, the server's and the KDC's, and nothing is held against the credential`()
        throws
    {
        let realm = try KerberosRealm()
        let (server, skewed) = (try KerberosServer(in: realm), try KerberosServer(in: realm, isSkewed: true))
        let rules = """
            credential svc { kerberos \(realm.principal("alice")); keytab \(realm.keytab("alice")) }
            credential other { kerberos \(realm.principal("bob")); keytab \(realm.keytab("bob")) }
            challenge { host localhost; method negotiate; use svc }
            challenge { host 127.0.0.1; spn HTTP/localhost; use other }
            """
        try AttacheProcess.running(rules, setting: .init(environment: realm.environment)) { proxy throws in
            for _ in 1...2 {
                let refused = try proxy.get(skewed.url("/request/"))
                #expect(refused.status == 502)
                let sentence =
                    "credential svc cannot log in to HTTP/localhost: the clocks of the server and of this machine differ"
                #expect(refused.text.contains(sentence), "\(refused) \(proxy.errorOutput)")
            }
            #expect(try proxy.get(server.url("/request/")).status == 200)
            realm.stopKDC()
            try realm.startKDC(isSkewed: true)
            let others = "http://127.0.0.1:\(server.port)/request/"
            let refused = try proxy.get(others)
            #expect(refused.status == 502)
            #expect(
                refused.text.contains("the clocks of this machine and of the KDC of ATTACHE.TEST differ"), "\(refused)")
            realm.stopKDC()
            try realm.startKDC()
            let recovers = try Wait.until { try proxy.get(others).status == 200 }
            #expect(recovers, "\(proxy.errorOutput)")
        }
    }
}
