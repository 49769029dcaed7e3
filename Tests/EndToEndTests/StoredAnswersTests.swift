import Foundation
import TestSupport
import Testing

/// The answers from the store besides Basic and Digest, where the rules say `default` or nothing.
struct StoredAnswersTests {
    private static let token = "t0ken-Of.The~Queen"
    private static let store = "store sqlite @/kept.db\n"

    /// `attache credential …` about the proxy's store.
    private func credential(_ words: String..., input: String = "", of proxy: AttacheProcess) throws {
        try Scratch.write(input, to: proxy.folder + "/given", mode: 0o600)
        let run = try Finished.run(
            AttacheBinary.path, ["credential"] + words + ["--config", "proxy.conf"], directory: proxy.folder,
            input: proxy.folder + "/given", seconds: 20)
        #expect(run.succeeded, "\(run)")
    }

    @Test func `a token answers for whatever realm its server names, and is another one within a second`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            guard request["Authorization"] == "Bearer \(Self.token)" else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer realm=\"api\""])
            }
            try connection.reply(body: "ok")
        }
        try AttacheProcess.running(Self.store) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            try credential("set", origin.url(), "--token", "-", input: "wrong\n", of: proxy)
            #expect(proxy.awaitRefusals(1, of: origin))
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(origin.messages.filter { $0["Authorization"] == "Bearer wrong" }.count == 1)
            try credential("set", origin.url(), "--token", "-", input: Self.token + "\n", of: proxy)
            #expect(try Wait.until { try proxy.get(origin.url()).text == "ok" })
            let before = origin.messages.count
            #expect(try proxy.get(origin.url("/more")).text == "ok")
            #expect(origin.messages.count == before + 1, "a known token goes unasked")
            #expect(proxy.accessLog.contains("\"credential\":\"token@127.0.0.1:\(origin.port)\""), "\(proxy.accessLog)")
            #expect(!(proxy.accessLog + proxy.errorOutput).contains(Self.token))
            try credential("remove", origin.url(), "--method", "bearer", of: proxy)
            #expect(try Wait.until { try proxy.get(origin.url()).status == 401 })
        }
    }

    @Test func `a token is there after a restart, and needs no new challenge`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            guard request["Authorization"] == "Bearer \(Self.token)" else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer realm=\"api\""])
            }
            try connection.reply(body: "ok")
        }
        let rules = "store sqlite \(Scratch.folder("store"))/kept.db"
        try AttacheProcess.running(rules) { proxy throws in
            try credential("set", origin.url(), "--token", "-", input: Self.token, of: proxy)
            #expect(try Wait.until { try proxy.get(origin.url()).text == "ok" })
            // What was learned is written a little later than the client has its answer.
            #expect(proxy.awaitErrorOutput("listening on"))
        }
        let before = origin.messages.count
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "ok")
        }
        #expect(origin.messages.count == before + 1)
    }

    @Test func `a SOCKS parent gets the password that is stored for its address`() throws {
        let (apache, socks) = (try ApacheServer.shared(), try SOCKSServer.shared())
        let rules = Self.store + "parent corp { socks5 \(socks.address) }\nroute 127.0.0.1 { via corp }"
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get(apache.url("/open/")).status == 502)
            try credential(
                "set", "socks5://\(socks.address)", Account.user, input: Account.password + "\n", of: proxy)
            #expect(try Wait.until { try proxy.get(apache.url("/open/")).status == 200 })
            let name = "\(Account.user)@\(socks.address)"
            #expect(try Wait.until { try proxy.records().contains { $0["parent_credential"] == name } })
        }
    }

    @Test(arguments: ["html-form", "any"])
    func `a login page gets the stored password where its rule says default`(method: String) throws {
        let server = try FormServer.shared()
        let rules =
            Self.store + """
                challenge "apache" {
                    host 127.0.0.1
                    form {
                        recognise status 401 contains httpd_password
                        login /dologin.html; fields httpd_username={user} httpd_password={password}
                    }
                    default
                }
                """
        try AttacheProcess.running(rules) { proxy throws in
            let url = server.url("/inline/who.cgi")
            #expect(try proxy.get(url).status == 401)
            try credential(
                "set", url, Account.user, "--method", method, input: Account.password + "\n", of: proxy)
            #expect(try Wait.until { try proxy.get(url).text.hasPrefix("\(Account.user) session=") })
        }
    }

    // MARK: - Certificates

    private func shown(to name: String, through proxy: AttacheProcess) throws -> String {
        try proxy.visit(Specimen[name], "/client?\(ApacheServer.mark())", by: .upgraded).text
    }

    @Test func `of several certificates the server's issuers choose, and the default goes first`() throws {
        let identities = (try ClientCertificate.good.get(), try ClientCertificate.elsewhere.get())
        try AttacheProcess.visitingZoo(Self.store) { proxy throws in
            for name in ["client-of-both", "client-required", "client-elsewhere"] {
                let url = "https://\(try Zoo.shared().authority(of: Specimen[name]))/"
                for identity in [identities.0, identities.1] {
                    try credential(
                        "set", url, "--certificate", identity.chain(), "--key", identity.key, of: proxy)
                }
            }
            let both = "https://\(try Zoo.shared().authority(of: Specimen["client-of-both"]))/"
            let good = "SUCCESS CN=client-good,O=Zoo\n"
            let elsewhere = "SUCCESS CN=client-elsewhere,O=Zoo\n"
            #expect(try Wait.until { try shown(to: "client-elsewhere", through: proxy) == elsewhere })
            #expect(try shown(to: "client-required", through: proxy) == good)
            #expect(try shown(to: "client-of-both", through: proxy) == good)
            try credential("default", both, "CN=client-elsewhere,O=Zoo", "--method", "client-certificate", of: proxy)
            #expect(try Wait.until { try shown(to: "client-of-both", through: proxy) == elsewhere })
            // A kept connection that has shown the certificate serves no other request.
            for name in ["CN=client-good,O=Zoo", "CN=client-elsewhere,O=Zoo"] {
                try credential("remove", both, name, "--method", "client-certificate", of: proxy)
            }
            #expect(try Wait.until { try proxy.visit(Specimen["client-of-both"], by: .upgraded).status == 400 })
            #expect(try shown(to: "client-required", through: proxy) == good)
        }
    }

    @Test func `a rule that says reject shows no stored certificate, and one that uses another shows that`() throws {
        let (stored, used) = (try ClientCertificate.good.get(), try ClientCertificate.renewed.get())
        let rules =
            Self.store + """
                credential device { certificate \(try used.chain()); key \(used.key) }
                challenge { host client-optional.example.test; method client-certificate; reject }
                challenge { host client-required.example.test; method client-certificate; use device }

                """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for name in ["client-optional", "client-required", "client-of-both"] {
                let url = "https://\(try Zoo.shared().authority(of: Specimen[name]))/"
                try credential("set", url, "--certificate", stored.chain(), "--key", stored.key, of: proxy)
            }
            #expect(
                try Wait.until { try shown(to: "client-of-both", through: proxy) == "SUCCESS CN=client-good,O=Zoo\n" })
            #expect(try shown(to: "client-optional", through: proxy) == "NONE \n")
            #expect(try shown(to: "client-required", through: proxy) == "SUCCESS CN=client-renewed,O=Zoo\n")
        }
    }
}

extension AttacheProcess {
    /// Asks until that many stored credentials were refused.
    fileprivate func awaitRefusals(_ count: Int, of origin: RecordingOrigin) -> Bool {
        Wait.until {
            _ = try? get(origin.url())
            return errorOutput.split(separator: "was refused by 127.0.0.1:\(origin.port)").count > count
        }
    }
}
