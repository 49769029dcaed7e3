import Foundation
import TestSupport
import Testing

/// Client certificates for origins: shown where a rule says so, only to a trusted server, and to no other.
struct ClientCertificateTests {
    /// `credential NAME { … }` with the identity's own files.
    private func credential(_ identity: Result<IssuedCertificate, any Error>, as name: String = "device") throws
        -> String
    {
        let identity = try identity.get()
        return "credential \(name) { certificate \(try identity.chain()); key \(identity.key) }\n"
    }

    private static let use = "challenge \"device\" { host *.example.test; method client-certificate; use device }\n"

    private func expectShown(
        _ subject: String, to name: String, by entrance: Entrance, through proxy: AttacheProcess,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let mark = ApacheServer.mark()
        let answered = try proxy.visit(Specimen[name], "/client?\(mark)", by: entrance)
        let expected = "SUCCESS CN=\(subject),O=Zoo\n"
        #expect(answered.text == expected, "\(name), \(entrance): \(answered)", sourceLocation: location)
    }

    // MARK: In the handshake

    @Test(arguments: Entrance.allCases)
    func `a certificate is shown to whoever asks, with its intermediates`(entrance: Entrance) throws {
        try AttacheProcess.visitingZoo(credential(ClientCertificate.good) + Self.use) { proxy throws in
            for name in ["client-required", "client-required-tls12", "client-optional", "client-of-both"] {
                try expectShown("client-good", to: name, by: entrance, through: proxy)
            }
            let mark = ApacheServer.mark()
            #expect(try proxy.visit(Specimen["client-required"], "/?\(mark)", by: entrance).status == 200)
            let record = try proxy.record(marked: mark)
            #expect(record?["identity"] == "device", "\(record?.line ?? "")")
        }
    }

    @Test(arguments: Entrance.allCases)
    func `without a rule no certificate is shown, and the origin's answer is the client's`(entrance: Entrance) throws {
        let other = "challenge { host other.example.test; method client-certificate; use device }\n"
        try AttacheProcess.visitingZoo(credential(ClientCertificate.good) + other) { proxy throws in
            let refused = try proxy.visit(Specimen["client-required"], by: entrance)
            #expect(refused.status == 400, "\(refused)")
            #expect(refused.text.contains("No required SSL certificate was sent"), "\(refused)")
            let reason = #"no rule shows one: it answered 400, "No required SSL certificate was sent""#
            #expect(Wait.until { proxy.errorOutput.contains(reason) }, "\(proxy.errorOutput)")
            #expect(try proxy.visit(Specimen["client-optional"], "/client", by: entrance).text == "NONE \n")
        }
    }

    @Test func `the issuers that the origin accepts choose among rules`() throws {
        let rules =
            try credential(ClientCertificate.good) + credential(ClientCertificate.elsewhere, as: "other") + """
                challenge { host *.example.test; issuer "CN=Elsewhere Root,O=Zoo"; use other }
                challenge { host *.example.test; issuer "CN=Zoo Root*"; use device }

                """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for entrance in Entrance.allCases {
                try expectShown("client-good", to: "client-required", by: entrance, through: proxy)
                try expectShown("client-good", to: "client-optional", by: entrance, through: proxy)
                try expectShown("client-elsewhere", to: "client-elsewhere", by: entrance, through: proxy)
                try expectShown("client-elsewhere", to: "client-of-both", by: entrance, through: proxy)
            }
        }
    }

    @Test func `a rule for any host shows a certificate only to who accepts its issuer`() throws {
        let any = "challenge { method client-certificate; use device }\n"
        let rules = try credential(ClientCertificate.good) + any
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            try expectShown("client-good", to: "client-required", by: .upgraded, through: proxy)
            #expect(try proxy.visit(Specimen["client-elsewhere"], "/client", by: .upgraded).status == 400)
        }
        try AttacheProcess.visitingZoo(credential(ClientCertificate.good) + Self.use) { proxy throws in
            try expectShown("client-good", to: "client-elsewhere", by: .upgraded, through: proxy)
        }
    }

    @Test func `a certificate that the origin refuses leaves the origin's answer`() throws {
        try AttacheProcess.visitingZoo(credential(ClientCertificate.expired) + Self.use) { proxy throws in
            let answered = try proxy.visit(Specimen["client-required"], by: .upgraded)
            #expect(answered.status == 400, "\(answered)")
            #expect(answered.text.contains("The SSL certificate error"), "\(answered)")
            let reason = #"of credential device: it answered 400, "The SSL certificate error""#
            #expect(Wait.until { proxy.errorOutput.contains(reason) }, "\(proxy.errorOutput)")
        }
    }

    @Test func `behind a certificate that a page refuses the next one is shown, and the first is on hold`() throws {
        let rules =
            try credential(ClientCertificate.expired, as: "old") + credential(ClientCertificate.good)
            + "challenge { host *.example.test; method client-certificate; use old device }\n"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for _ in 1...2 { try expectShown("client-good", to: "client-required", by: .upgraded, through: proxy) }
            let refusals = proxy.errorOutput.split(separator: "\n").filter { $0.contains("old was refused by ") }
            #expect(refusals.count == 1, "\(proxy.errorOutput)")
        }
    }

    @Test(arguments: ["encrypted key", "archive", "key and certificate in one file"])
    func `an identity comes in several forms`(form: String) throws {
        let identity = try ClientCertificate.rsa.get()
        let content =
            switch form {
            case "archive": "pkcs12 \(try ClientCertificate.archive(of: identity)); passphrase file @/passphrase"
            case "encrypted key":
                "certificate \(try identity.chain()); key \(try ClientCertificate.encryptedKey(of: identity)); "
                    + "passphrase file @/passphrase"
            default: "certificate @/both.pem; key @/both.pem"
            }
        let both = try Scratch.read(identity.chain()) + Scratch.read(identity.key)
        let files = ["passphrase": ClientCertificate.passphrase + "\n", "both.pem": both]
        let setting = AttacheProcess.Setting(threads: 1, files: files)
        try AttacheProcess.visitingZoo("credential device { \(content) }\n" + Self.use, setting: setting) {
            proxy throws in
            try expectShown("client-rsa", to: "client-required", by: .upgraded, through: proxy)
        }
    }

    @Test func `nothing is shown before the server is trusted`() throws {
        let specimen = try Specimen["client-for-expired"]
        let relay = try RecordRelay(to: Zoo.shared().port(of: specimen))
        let authority = "\(specimen.host):\(relay.port)"
        let rules = try credential(ClientCertificate.good) + Self.use
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            #expect(try proxy.visit(authority, by: .upgraded).status == 502)
            _ = Wait.until { relay.passages.first?.fromClient.count ?? 0 >= 2 }
            let passage = try #require(relay.passages.first)
            // Without encryption: the ClientHello, then an alert.
            #expect(passage.fromClient.map(\.type) == [22, 21], "\(passage.fromClient)")
        }
        let trust = "challenge { host \(specimen.host); method server-trust; allow expired; trust }\n"
        try AttacheProcess.visitingZoo(rules + trust) { proxy throws in
            let answered = try proxy.visit(authority, "/client", by: .upgraded)
            #expect(answered.text == "SUCCESS CN=client-good,O=Zoo\n", "\(answered)")
        }
    }

    // MARK: After the request

    private func apache(_ three: Bool) throws -> String {
        let ports = try ApacheServer.shared().securePorts
        return "\(ApacheServer.secureHost):\(three ? ports.three : ports.two)"
    }

    @Test(arguments: Entrance.allCases, [false, true])
    func `a certificate is shown when it is asked for after the request`(entrance: Entrance, isNew: Bool) throws {
        try AttacheProcess.visitingZoo(credential(ClientCertificate.good) + Self.use) { proxy throws in
            let authority = try apache(isNew)
            #expect(try proxy.visit(authority, "/open/", by: entrance).text == "this is open\n")
            for path in ["/need/echo.cgi", "/may/echo.cgi", "/need/echo.cgi"] {
                let answered = try proxy.visit(authority, path, by: entrance)
                #expect(answered.text.contains("client=client-good verification=SUCCESS"), "\(path): \(answered)")
            }
            #expect(try proxy.visit(authority, "/open/", by: entrance).text == "this is open\n")
        }
    }

    @Test(arguments: [false, true])
    func `without a rule a certificate asked for after the request is refused in words`(isNew: Bool) throws {
        try AttacheProcess.visitingZoo { proxy throws in
            let authority = try apache(isNew)
            #expect(try proxy.visit(authority, "/may/", by: .upgraded).status == 200)
            let refused = try proxy.visit(authority, "/need/", by: .upgraded)
            #expect([403, 502].contains(refused.status), "\(refused)")
            #expect(try proxy.visit(authority, "/open/", by: .upgraded).status == 200)
        }
    }

    @Test(arguments: [false, true])
    func `content arrives whole although the certificate is asked for before it is read`(isNew: Bool) throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.visitingZoo(credential(ClientCertificate.good) + Self.use) { proxy throws in
            for (bytes, isChunked) in [(1_000, false), (1 << 20, false), (1 << 20, true), (5 << 20, false)] {
                let mark = ApacheServer.mark()
                let file = try Payload.file(bytes: bytes)
                let expected = "\(bytes) \(try Hash.sha256(ofFile: file))"
                let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
                let sent = try proxy.visit(
                    self.apache(isNew), "/need/upload.cgi?\(mark)", by: .upgraded,
                    ["--data-binary", "@" + file, "-H", "Expect:"] + framing)
                #expect(sent.text == expected + "\n", "\(bytes): \(sent)")
                #expect(try Payload.arrivals(at: apache, marked: mark) == [expected])
            }
        }
    }

    /// Apache keeps 128 KiB of content while it asks for a certificate, and refuses more, unless it may ask first.
    @Test(arguments: [false, true])
    func `an origin that cannot keep the content is asked before it is sent`(isNew: Bool) throws {
        try AttacheProcess.visitingZoo(credential(ClientCertificate.good) + Self.use) { proxy throws in
            for framing in [[], ["-H", "Transfer-Encoding: chunked"]] {
                let file = try Payload.file(bytes: 1 << 20)
                let sent = try proxy.visit(
                    self.apache(isNew), "/may/upload.cgi?\(ApacheServer.mark())", by: .upgraded,
                    ["--data-binary", "@" + file, "-H", "Expect:"] + framing)
                #expect(sent.text == "\(1 << 20) \(try Hash.sha256(ofFile: file))\n", "\(sent)")
            }
        }
    }

    // MARK: Change

    private func files(_ identity: Result<IssuedCertificate, any Error>) throws -> [String: String] {
        ["client.pem": Scratch.read(try identity.get().chain()), "client.key": Scratch.read(try identity.get().key)]
    }

    private static let own = "credential device { certificate @/client.pem; key @/client.key }\n" + use

    @Test func `a renewed file is used, and connections of the old one retire`() throws {
        let zoo = try Zoo.shared()
        let required = try Specimen["client-required"]
        let setting = AttacheProcess.Setting(threads: 1, files: try files(ClientCertificate.good))
        try AttacheProcess.visitingZoo(Self.own, setting: setting) { proxy throws in
            let mark = ApacheServer.mark()
            for _ in 1...3 { #expect(try proxy.visit(required, "/client?\(mark)", by: .upgraded).status == 200) }
            for (name, text) in try files(ClientCertificate.renewed) { try proxy.replace(name, with: text) }
            var visits = 3
            let isRenewed = try Wait.until {
                visits += 1
                return try proxy.visit(required, "/client?\(mark)", by: .upgraded).text.contains("CN=client-renewed")
            }
            #expect(isRenewed, "\(proxy.errorOutput)")
            let entries = zoo.server.entries(marked: mark, atLeast: visits)
            let old = Set(entries.filter { $0.clientSubject.contains("client-good") }.map(\.connection))
            let new = Set(entries.filter { $0.clientSubject.contains("client-renewed") }.map(\.connection))
            #expect(!old.isEmpty && !new.isEmpty && old.isDisjoint(with: new))
            // From the first on, only the new one.
            let first = entries.firstIndex { $0.clientSubject.contains("client-renewed") } ?? 0
            #expect(entries[first...].allSatisfy { $0.clientSubject.contains("client-renewed") })
            #expect(entries.allSatisfy { !$0.isResumed || $0.clientSubject.contains("client-good") })
        }
    }

    @Test func `a renewed file that does not fit keeps the old identity`() throws {
        let setting = AttacheProcess.Setting(threads: 1, files: try files(ClientCertificate.good))
        try AttacheProcess.visitingZoo(Self.own, setting: setting) { proxy throws in
            try expectShown("client-good", to: "client-required", by: .upgraded, through: proxy)
            let stranger = Scratch.read(try ClientCertificate.renewed.get().key)
            try proxy.replace("client.key", with: stranger)
            let isSaid = try Wait.until {
                try expectShown("client-good", to: "client-required", by: .upgraded, through: proxy)
                return proxy.errorOutput.contains("client.key")
            }
            #expect(isSaid, "\(proxy.errorOutput)")
            try proxy.reload(Self.own.replacing("@/", with: proxy.folder + "/") + AttacheProcess.routesToZoo)
            #expect(proxy.awaitErrorOutput("was reloaded"))
            try expectShown("client-good", to: "client-required", by: .upgraded, through: proxy)
        }
    }

    @Test(arguments: ["a stranger's key", "no key", "no certificate", "a wrong passphrase"])
    func `an identity that cannot be used is one sentence at the start`(trouble: String) throws {
        let identity = try ClientCertificate.good.get()
        let (chain, folder) = (try identity.chain(), Scratch.folder("trouble"))
        // Keys that others can read have a sentence of their own.
        let keys = [
            "own": identity.key, "strange": try ClientCertificate.renewed.get().key,
            "encrypted": try ClientCertificate.encryptedKey(of: identity),
        ]
        for (name, path) in keys { try Scratch.write(Scratch.read(path), to: "\(folder)/\(name).key", mode: 0o600) }
        let content =
            switch trouble {
            case "a stranger's key": "certificate \(chain); key @/strange.key"
            case "no key": "certificate \(chain); key @/gone.key"
            case "no certificate": "certificate @/own.key; key @/own.key"
            default: "certificate \(chain); key @/encrypted.key; passphrase \"\(Account.wrongPassword)\""
            }
        let text = AttacheProcess.ruleFile(
            "credential device { \(content) }\n" + Self.use, .init(), port: FreePort.take(), adminPort: FreePort.take(),
            folder: folder)
        try Scratch.write(text, to: folder + "/proxy.conf", mode: 0o600)
        let run = try AttacheBinary.run("run", "--config", folder + "/proxy.conf")
        #expect([1, 2].contains(run.status), "\(run)")
        #expect(run.errorOutput.hasPrefix("attache: credential device: "), "\(run)")
        #expect(run.errorOutput.split(separator: "\n").count { $0.contains("device") } == 1, "\(run)")
        #expect(!run.errorOutput.contains("OpenSSL") && !run.errorOutput.contains("error:"), "\(run)")
    }

    @Test func `one client's certificate serves no other client`() throws {
        let rules =
            try credential(ClientCertificate.good) + credential(ClientCertificate.renewed, as: "other") + """
                challenge { host *.example.test; method client-certificate; client 127.0.0.2; use device }
                challenge { host *.example.test; method client-certificate; client 127.0.0.3; use other }

                """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let optional = try Specimen["client-optional"]
            let visit = { (address: String, entrance: Entrance) in
                try proxy.visit(optional, "/client", by: entrance, "--interface", address).text
            }
            for entrance in Entrance.allCases + Entrance.allCases {
                #expect(try visit("127.0.0.2", entrance) == "SUCCESS CN=client-good,O=Zoo\n")
                #expect(try visit("127.0.0.3", entrance) == "SUCCESS CN=client-renewed,O=Zoo\n")
                #expect(try visit("127.0.0.1", entrance) == "NONE \n")
            }
        }
    }
}
