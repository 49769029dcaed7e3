import Foundation
import TestSupport
import Testing

/// A client that leaves takes its exchange along: its connection to the origin ends, and its place is free. The time-outs are
/// longer than a test has patience, so that nothing else can end them.
struct DepartureTests {
    private static let slow = "timeouts { head 300s; idle 300s; connect 300s; response 300s }"

    private static func authority(of url: String) -> Substring {
        url.split(separator: "/", maxSplits: 2)[1].prefix { $0 != "/" }
    }

    private static func get(_ url: String, _ fields: String..., version: String = "1.1") -> String {
        (["GET \(url) HTTP/\(version)", "Host: \(authority(of: url))"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// How a client leaves.
    enum Manner: CaseIterable {
        case reset
        case end

        func leave(_ wire: Wire) { if self == .reset { wire.abort() } else { wire.close() } }
    }

    /// How far an exchange has come.
    enum Stage: CaseIterable {
        /// The request went out on a kept connection.
        case kept
        /// The origin is new, and asks for nothing yet.
        case opened
        /// The origin reads no more of the body.
        case uploading
        /// A part of the response has come.
        case relaying
        /// The origin does not answer in its TLS handshake.
        case shakingHands
    }

    /// An origin that answers nothing but `/quick`, and opens the gate when its connection ends.
    private static func silent(_ gate: Gate) throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            while let request = try connection.requestHead() {
                if request.target == "/quick" {
                    try connection.reply(body: "ok")
                    continue
                }
                if request.target == "/part" {
                    try connection.wire.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
                }
                _ = try connection.wire.readToEnd()
                gate.open()
                return
            }
        }
    }

    @Test(arguments: Stage.allCases, Manner.allCases)
    func `an exchange ends with its client`(stage: Stage, manner: Manner) throws {
        let (gate, greeted) = (Gate(), Gate())
        let origin =
            stage == .shakingHands
            ? try RecordingOrigin { connection in
                _ = try connection.wire.read(5)
                greeted.open()
                _ = try connection.wire.readToEnd()
                gate.open()
            } : try Self.silent(gate)
        let rules = Self.slow + (stage == .shakingHands ? "\nroute * { upgrade \(origin.port) }" : "")
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            let client = try proxy.connect()
            let quick = stage == .kept ? 1 : 0
            if stage == .kept {
                try client.send(Self.get(origin.url("/quick")))
                #expect(try client.readResponse().text == "ok")
            }
            switch stage {
            case .kept, .opened: try client.send(Self.get(origin.url("/held")))
            case .relaying: try client.send(Self.get(origin.url("/part")))
            case .uploading:
                try client.send(
                    "POST \(origin.url("/stuck")) HTTP/1.1\r\nHost: \(Self.authority(of: origin.url()))\r\nContent-Length: 99\r\n\r\nabc"
                )
            case .shakingHands: try client.send(Self.get("http://127.0.0.1/"))
            }
            if stage == .shakingHands {
                #expect(greeted.wait())
            } else {
                #expect(Wait.until { origin.messages.count == quick + 1 })
            }
            if stage == .relaying {
                #expect(try client.readHead()?.status == 200)
                #expect(try client.read(3) == Array("abc".utf8))
            }
            manner.leave(client)
            #expect(gate.wait(), "the origin's connection outlives the client")
            let record = try #require(try proxy.records(atLeast: quick + 1).last)
            #expect(record["error"] == "connection_terminated", "\(record.line)")
            #expect(record["details"] == "the client left")
            #expect(record.status == (stage == .relaying ? 200 : 0))
            // Nothing of it is left for others.
            if stage == .opened {
                #expect(try proxy.exchange(Self.get(origin.url("/quick"))).text == "ok")
                #expect(origin.connections == 2)
            }
        }
    }

    @Test(arguments: Manner.allCases)
    func `a parent's tunnel is not awaited for a client that has left`(manner: Manner) throws {
        let gate = Gate()
        let parent = try Self.silent(gate)
        let rules = "\(Self.slow)\nparent corp { http 127.0.0.1:\(parent.port) }\nroute * { via corp }"
        try AttacheProcess.running(rules) { proxy throws in
            let client = try proxy.connect()
            try client.send("CONNECT origin.test:443 HTTP/1.1\r\nHost: origin.test:443\r\n\r\n")
            #expect(Wait.until { parent.messages.count == 1 })
            manner.leave(client)
            #expect(gate.wait(), "the parent's connection outlives the client")
            #expect(try proxy.records().first?["details"] == "the client left")
        }
    }

    @Test func `a client in a tunnel that is looked into may leave as well`() throws {
        let gate = Gate()
        let origin = try Self.silent(gate)
        let rules = "\(Self.slow)\nroute * { intercept }"
        try AttacheProcess.running(rules) { proxy throws in
            let client = try InterceptedTunnelTests.tunnel(to: origin.port, through: proxy)
            try client.send("GET /held HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            #expect(Wait.until { origin.messages.count == 1 })
            client.close()
            #expect(gate.wait(), "the origin's connection outlives the client")
        }
    }

    @Test func `a client that ends its TLS has left`() throws {
        let gate = Gate()
        let origin = try Self.silent(gate)
        let port = FreePort.take()
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        let rules = "\(Self.slow)\nlisten 127.0.0.1:\(port) tls certificate \(try identity.chain()) key \(identity.key)"
        try AttacheProcess.running(rules) { _ throws in
            let curl = try Subprocess(
                "curl", ["-q", "-s", "--proxy-insecure", "-x", "https://127.0.0.1:\(port)", origin.url("/held")])
            #expect(Wait.until { origin.messages.count == 1 })
            _ = curl.kill()
            #expect(gate.wait(), "the origin's connection outlives the client")
        }
    }

    /// The end of its TLS, and not of its connection, behind the request.
    @Test func `a client that ends its TLS alone has left as well`() throws {
        let origin = try Self.silent(Gate())
        let port = FreePort.take()
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        let rules = "\(Self.slow)\nlisten 127.0.0.1:\(port) tls certificate \(try identity.chain()) key \(identity.key)"
        let script = """
            import socket, ssl, sys
            terms = ssl._create_unverified_context()
            stream = terms.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
            stream.sendall(sys.argv[2].encode())
            stream.unwrap()
            """
        try AttacheProcess.running(rules) { proxy throws in
            let client = try Subprocess("python3", ["-c", script, "\(port)", Self.get(origin.url("/held"))])
            #expect(try proxy.records().first?["details"] == "the client left", "\(client.errorOutput)")
            _ = client.kill()
        }
    }

    @Test(arguments: ["1.0", "1.1"])
    func `a client that may end its side has left when it resets its connection`(version: String) throws {
        let gate = Gate()
        let origin = try Self.silent(gate)
        try AttacheProcess.running(Self.slow) { proxy throws in
            let client = try proxy.connect()
            try client.send(Self.get(origin.url("/held"), "Connection: close", version: version))
            #expect(Wait.until { origin.messages.count == 1 })
            client.abort()
            #expect(gate.wait(), "the origin's connection outlives the client")
            #expect(try proxy.records().first?["details"] == "the client left")
        }
    }

    @Test(arguments: ["1.0", "1.1"])
    func `a client that ends its side with its last request is answered`(version: String) throws {
        let (gates, other) = ([Gate(), Gate()], try RecordingOrigin.answering())
        let origin = try RecordingOrigin.answering { request, connection in
            gates[request.target == "/new" ? 0 : 1].wait()
            try connection.reply(body: request.target)
        }
        try AttacheProcess.running(Self.slow, setting: .init(threads: 1)) { proxy throws in
            for (path, gate) in zip(["/new", "/kept"], gates) {
                let client = try proxy.connect()
                try client.send(Self.get(origin.url(path), "Connection: close", version: version))
                #expect(Wait.until { origin.messages.last?.target == path })
                client.finishSending()
                // The loop has seen that the client ended its side when it has answered this.
                #expect(try proxy.exchange(Self.get(other.url())).status == 200)
                gate.open()
                #expect(try client.readResponse().text == path)
            }
            #expect(origin.connections == 1)
        }
    }

    @Test func `clients that left make room, however long their origin is silent`() throws {
        let gate = Gate()
        let origin = try Self.silent(gate)
        let rules = "\(Self.slow)\nlimits { clients 40 }"
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            for round in 1...3 {
                let clients = try (0..<40).map { _ in try proxy.connect() }
                for client in clients { try client.send(Self.get(origin.url("/held"))) }
                #expect(Wait.until { origin.messages.count { $0.target == "/held" } == 40 * round })
                for (number, client) in clients.enumerated() {
                    (number % 2 == 0 ? Manner.reset : .end).leave(client)
                }
                #expect(try proxy.exchange(Self.get(origin.url("/quick"), "Connection: close")).text == "ok")
            }
            #expect(try proxy.records(atLeast: 123).count { $0["details"] == "the client left" } == 120)
        }
    }

    @Test func `a token that one client wanted is fetched although it left`() throws {
        let (gate, asked) = (Gate(), Gate())
        let endpoint = try RecordingOrigin.answering { _, connection in
            asked.open()
            gate.wait()
            try connection.reply(
                "200 OK", ["Content-Type: application/json"], #"{"access_token":"abc","token_type":"Bearer"}"#)
        }
        let origin = try RecordingOrigin.answering { request, connection in
            guard request["Authorization"] == "Bearer abc" else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer"])
            }
            try connection.reply(body: "ok")
        }
        let rules = """
            \(Self.slow)
            credential crm { oauth2 \(endpoint.url("/token")); client-id crm; client-secret file @/password }
            challenge { host 127.0.0.1; port \(origin.port); use crm }
            """
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            let client = try proxy.connect()
            try client.send(Self.get(origin.url("/a")))
            #expect(asked.wait())
            let second = try proxy.connect()
            try second.send(Self.get(origin.url("/b")))
            client.abort()
            #expect(try proxy.records().first?["details"] == "the client left")
            gate.open()
            #expect(try second.readResponse().text == "ok")
            #expect(endpoint.messages.count == 1)
        }
    }

    @Test func `a login that several clients wait for goes on without the first of them`() throws {
        let (gate, asked) = (Gate(), Gate())
        let origin = try RecordingOrigin.answering { request, connection in
            if request.method == "POST" {
                asked.open()
                gate.wait()
                return try connection.reply("302 Found", ["Location: /home", "Set-Cookie: sid=1; Path=/"])
            }
            if request["Cookie"]?.contains("sid=1") == true { return try connection.reply(body: request.target) }
            if request.target == "/login" {
                return try connection.reply(
                    "200 OK", ["Content-Type: text/html"],
                    "<form action=/login method=post><input name=username><input type=password name=password></form>")
            }
            try connection.reply("302 Found", ["Location: /login"])
        }
        let rules = """
            timeouts { response 300s; connect 120s }
            credential portal { user \(Account.user); password file @/password }
            challenge "portal" {
                host 127.0.0.1; port \(origin.port); method html-form
                form { recognise status 302 location /login*; login /login; fields username={user} password={password} }
                use portal
            }
            """
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            let client = try proxy.connect()
            try client.send(Self.get(origin.url("/a")))
            #expect(asked.wait())
            let second = try proxy.connect()
            try second.send(Self.get(origin.url("/b")))
            #expect(Wait.until { origin.messages.contains { $0.target == "/b" } })
            client.abort()
            #expect(try proxy.exchange(Self.get("http://127.0.0.1:\(proxy.port)/")).status >= 400)
            gate.open()
            #expect(try second.readResponse().text == "/b")
            #expect(origin.messages.count { $0.method == "POST" } == 1)
        }
    }

    @Test(arguments: Manner.allCases)
    func `a file that is fetched by FTP is given up with its client`(manner: Manner) throws {
        let (gate, asked) = (Gate(), Gate())
        let data = try RecordingOrigin { connection in
            try connection.wire.send("hel")
            asked.open()
            _ = try connection.wire.readToEnd()
            gate.open()
        }
        let server = try RecordingOrigin { connection in
            try connection.wire.send("220 hello\r\n")
            while true {
                var line: [UInt8] = []
                while line.last != 0x0A { line += try connection.wire.read(1) }
                let command = String(decoding: line.prefix(4), as: UTF8.self).trimmingCharacters(
                    in: .whitespacesAndNewlines)
                let replies = [
                    "USER": "331 and?", "PASS": "230 welcome", "PWD": "257 \"/\" it is", "TYPE": "200 so",
                    "SIZE": "213 9",
                    "MDTM": "213 20200102030405", "RETR": "150 coming",
                    "PASV": "227 go to (127,0,0,1,\(data.port / 256),\(data.port % 256))",
                ]
                try connection.wire.send((replies[command] ?? "500 what?") + "\r\n")
            }
        }
        let rules = """
            \(Self.slow)
            credential files { user someone; password file @/password }
            challenge { protocol ftp; host 127.0.0.1; use files }
            """
        try AttacheProcess.running(rules) { proxy throws in
            let client = try proxy.connect()
            try client.send(Self.get("ftp://127.0.0.1:\(server.port)/file"))
            #expect(asked.wait())
            manner.leave(client)
            #expect(gate.wait(), "the transfer outlives the client")
        }
    }
}
