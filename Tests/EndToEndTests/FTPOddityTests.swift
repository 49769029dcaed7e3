import Foundation
import Synchronization
import TestSupport
import Testing

/// FTP servers that do what vsftpd does not.
struct FTPOddityTests {
    private static let rules = """
        timeouts { idle 1s }
        credential files { user someone; password file @/password }
        challenge { protocol ftp; host 127.0.0.1; use files }
        """

    /// A server that answers each command as `replies` says, by its first word; nil ends the connection.
    private func server(
        greeting: String = "220 hello",
        _ replies: @escaping @Sendable (String, RecordingOrigin.Connection) throws -> String?
    ) throws -> RecordingOrigin {
        try RecordingOrigin { connection in
            try connection.wire.send(greeting + "\r\n")
            while true {
                var line: [UInt8] = []
                while line.last != 0x0A { line += try connection.wire.read(1) }
                let command = String(decoding: line.dropLast(2), as: UTF8.self)
                guard let reply = try replies(command, connection) ?? Self.usual(command) else { return }
                try connection.wire.send(reply + "\r\n")
            }
        }
    }

    private static func usual(_ command: String) -> String? {
        switch command.prefix(4).trimmingCharacters(in: .whitespaces) {
        case "AUTH", "EPSV": "500 what?"
        case "USER": "331 and the password?"
        case "PASS": "230 welcome"
        case "PWD": "257 \"/\" it is"
        case "TYPE": "200 so it is"
        case "SIZE": "213 5"
        case "MDTM": "213 20200102030405"
        case "REST": "350 from there"
        case "CWD": "250 there"
        default: nil
        }
    }

    @Test func `data comes from where the server is, whatever address it names`() throws {
        let data = try RecordingOrigin { try $0.wire.send("hello") }
        let server = try server { command, connection in
            if command == "PASV" { return "227 go to (192,0,2,1,\(data.port / 256),\(data.port % 256))" }
            return command.hasPrefix("RETR") ? "150 coming\r\n226 done" : nil
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let fetched = try proxy.get("ftp://127.0.0.1:\(server.port)/file")
            #expect(fetched.text == "hello", "\(fetched)")
            #expect(fetched["Last-Modified"] == "Thu, 02 Jan 2020 03:04:05 GMT")
        }
    }

    @Test func `a server that has no room has refused no password`() throws {
        let server = try server(greeting: "421 too many") { _, _ in nil }
        let busy = try self.server { command, _ in command.hasPrefix("USER") ? "421 too many users" : nil }
        try AttacheProcess.running(Self.rules) { proxy throws in
            for port in [server.port, busy.port, busy.port] {
                let refused = try proxy.get("ftp://127.0.0.1:\(port)/file")
                #expect(refused.status == 503)
                #expect(refused.text.hasPrefix("the FTP server says: 421 too many"))
            }
            #expect(busy.connections == 2)
        }
    }

    @Test func `only 530 and 430 refuse a password`() throws {
        let data = try RecordingOrigin { try $0.wire.send("hello") }
        let failure = Mutex(String?("500 OOPS: priv_sock_get_result"))
        let logins = Mutex(0)
        let server = try server { command, connection in
            if command.hasPrefix("PASS") {
                logins.withLock { $0 += 1 }
                return failure.withLock { $0 } ?? "230 welcome"
            }
            if command == "PASV" { return "227 go to (127,0,0,1,\(data.port / 256),\(data.port % 256))" }
            return command.hasPrefix("RETR") ? "150 coming\r\n226 done" : nil
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let url = "ftp://127.0.0.1:\(server.port)/file"
            for (reply, status) in [
                ("500 OOPS: priv_sock_get_result", 502), ("550 no home", 502), ("332 and the account?", 502),
                ("421 the directory is away", 503), ("450 not now", 503),
            ] {
                failure.withLock { $0 = reply }
                for upload in [[], ["--data-binary", "content", "-X", "PUT"]] {
                    logins.withLock { $0 = 0 }
                    let failed = try Curl.fetch(url, ["-x", proxy.address] + upload)
                    #expect(failed.status == status, "\(reply): \(failed)")
                    #expect(failed.text == "the FTP server says: \(reply)\n")
                    #expect(logins.withLock { $0 } == 1, "\(reply)")
                }
            }
            failure.withLock { $0 = nil }
            #expect(try proxy.get(url).text == "hello")
            for reply in ["430 wrong", "530 wrong"] {
                try proxy.replace("password", with: "another \(reply)\n")
                failure.withLock { $0 = reply }
                let isRefused = try Wait.until { try proxy.get(url).status == 401 }
                #expect(isRefused)
            }
        }
    }

    @Test func `a server that is silent or gone after the password has refused nothing`() throws {
        let data = try RecordingOrigin { try $0.wire.send("hello") }
        let step = Mutex(0)
        let server = try server { command, connection in
            if command.hasPrefix("PASS") {
                switch step.withLock({ $0 }) {
                case 0: throw Wire.Failure.closed
                case 1: _ = try connection.wire.readToEnd()
                default: return "230 welcome"
                }
            }
            if command == "PASV" { return "227 go to (127,0,0,1,\(data.port / 256),\(data.port % 256))" }
            return command.hasPrefix("RETR") ? "150 coming\r\n226 done" : nil
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let url = "ftp://127.0.0.1:\(server.port)/file"
            #expect(try proxy.get(url).status == 502)
            step.withLock { $0 = 1 }
            #expect(try proxy.get(url).status == 504)
            step.withLock { $0 = 2 }
            #expect(try proxy.get(url).text == "hello")
        }
    }

    @Test func `a file that stops in the middle does not look whole`() throws {
        let data = try RecordingOrigin { connection in
            try connection.wire.send("hel")
            _ = try connection.wire.readToEnd()
        }
        let replies = { @Sendable (command: String, connection: RecordingOrigin.Connection) -> String? in
            if command == "PASV" { return "227 go to (127,0,0,1,\(data.port / 256),\(data.port % 256))" }
            return command.hasPrefix("RETR") ? "150 coming" : nil
        }
        let sized = try server(replies)
        let unsized = try server { command, connection in
            command.hasPrefix("SIZE") ? "500 what?" : replies(command, connection)
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            for server in [sized, unsized] {
                let fetched = try proxy.get("ftp://127.0.0.1:\(server.port)/file")
                #expect(fetched.status == 200)
                #expect(fetched.text == "hel")
                // curl: a part of the file, or a failure of the connection.
                #expect([18, 56].contains(fetched.run.status), "\(fetched)")
            }
        }
    }

    @Test func `an offer of TLS that comes to nothing is no reason to go on without`() throws {
        let server = try server { command, connection in
            #expect(!command.hasPrefix("USER"))
            guard command.hasPrefix("AUTH") else { return nil }
            try connection.wire.send("234 go ahead\r\nthis is no TLS\r\n")
            return "500 and never was"
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let refused = try proxy.get("ftp://127.0.0.1:\(server.port)/file")
            #expect([502, 504].contains(refused.status), "\(refused)")
        }
    }

    @Test func `a name is asked for as it is, and a text although its size is not told`() throws {
        let data = try RecordingOrigin { try $0.wire.send("hello") }
        let commands = Mutex<[String]>([])
        let isText = Mutex(false)
        let server = try server { command, connection in
            commands.withLock { $0.append(command) }
            if command.hasPrefix("TYPE") { isText.withLock { $0 = command == "TYPE A" } }
            if command.hasPrefix("SIZE"), isText.withLock({ $0 }) { return "550 SIZE not allowed in ASCII mode" }
            if command == "PASV" { return "227 go to (127,0,0,1,\(data.port / 256),\(data.port % 256))" }
            return command.hasPrefix("RETR") ? "150 coming\r\n226 done" : nil
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            for (path, sent) in [
                ("/in;type=d/it", ["CWD in;type=d", "RETR it"]), ("/what?now", ["RETR what?now"]),
                ("/lines;type=a", ["TYPE A", "RETR lines"]), ("/caf%C3%A9%20x", ["RETR caf\u{e9} x"]),
            ] {
                commands.withLock { $0 = [] }
                let fetched = try proxy.get("ftp://127.0.0.1:\(server.port)\(path)")
                #expect(fetched.text == "hello", "\(path): \(fetched)")
                let all = commands.withLock { $0 }
                for command in sent { #expect(all.contains(command), "\(path): \(all)") }
            }
            // No line may end in a name.
            for path in ["/a%0d%0aDELE%20b", "/a%0aDELE%20b", "/%00"] {
                commands.withLock { $0 = [] }
                let refused = try proxy.get("ftp://127.0.0.1:\(server.port)\(path)")
                #expect(refused.status == 400, "\(path): \(refused)")
                #expect(!commands.withLock { $0 }.contains { $0.hasPrefix("DELE") })
            }
        }
    }

    /// Names that would be markup, another place, or a line of their own.
    private static let listing = [
        "total 8", #"-rw-r--r-- 1 a b 5 Nov 21 10:00 "><script>alert(1)"#,
        "-rw-r--r-- 1 a b 5 Nov 21 10:00 javascript:alert(2)", "drwxr-xr-x 2 a b 5 Nov 21 10:00 a b & 'c'",
        "lrwxrwxrwx 1 a b 5 Nov 21 10:00 link -> /etc/passwd", "-rw-r--r-- 1 a b 5 Nov 21 10:00 ../up",
        "drwxr-xr-x 2 a b 5 Nov 21 10:00 ..", "-rw-r--r-- 1 a b <b>5</b> Nov 21 10:00 x",
        "<img src=x onerror=alert(3)>", "-rw-r--r-- 1 a b 5 Nov 21 10:00 caf\u{e9}",
        "11-21-26  10:00AM  <DIR>  dos <dir>", String(repeating: "<", count: 9000),
    ].joined(separator: "\r\n")

    @Test func `a list shows names as text, and is whole or broken off`() throws {
        let data = try RecordingOrigin { try $0.wire.send(Self.listing + "\r\n") }
        let reply = Mutex("226 done")
        let server = try server { command, _ in
            if command == "PASV" { return "227 go to (127,0,0,1,\(data.port / 256),\(data.port % 256))" }
            return command.hasPrefix("LIST") ? "150 coming\r\n" + reply.withLock { $0 } : nil
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let url = "ftp://127.0.0.1:\(server.port)/%3Cdir%3E/"
            let page = try proxy.get(url, "-H", "Accept: text/html")
            #expect(page.status == 200 && page.run.status == 0, "\(page)")
            let tags = Set(page.text.matches(of: /<[^a\/!][^>]*>/).map { String($0.0) })
            #expect(
                tags == [
                    "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">", "<title>", "<body>", "<h1>", "<pre>",
                ])
            let links = page.text.matches(of: /<a href="([^"]*)">/).map { String($0.1) }
            #expect(
                links == [
                    "../", "./%22%3e%3cscript%3ealert%281%29", "./javascript%3aalert%282%29",
                    "./a%20b%20%26%20%27c%27/", "./link", "./caf%c3%a9", "./dos%20%3cdir%3e/",
                ])
            let text = try proxy.get(url)
            #expect(text["Content-Type"] == "text/plain; charset=utf-8")
            #expect(text.text.replacing("\r\n", with: "\n") == (Self.listing + "\r\n").replacing("\r\n", with: "\n"))
            reply.withLock { $0 = "426 broken off" }
            for accepted in ["text/html", "text/plain"] {
                let cut = try proxy.get(url, "-H", "Accept: \(accepted)")
                #expect([18, 56].contains(cut.run.status), "\(cut)")
                #expect(!cut.text.hasSuffix("</html>\n"))
            }
        }
    }

    @Test func `a file that the server takes only in part was not stored`() throws {
        let data = try RecordingOrigin { _ = try $0.wire.readToEnd() }
        let reply = Mutex("552 no room left")
        let server = try server { command, connection in
            if command == "PASV" { return "227 go to (127,0,0,1,\(data.port / 256),\(data.port % 256))" }
            guard command.hasPrefix("STOR") else { return command.hasPrefix("SIZE") ? "550 not there" : nil }
            let said = reply.withLock { $0 }
            return said.hasPrefix("553") ? said : "150 go ahead\r\n" + said
        }
        try AttacheProcess.running(Self.rules) { proxy throws in
            let url = "ftp://127.0.0.1:\(server.port)/file"
            for (said, status) in [
                ("552 no room left", 507), ("451 failed", 502), ("553 may not", 403), ("226 done", 201),
            ] {
                reply.withLock { $0 = said }
                let stored = try proxy.get(url, "--data-binary", "content", "-X", "PUT")
                #expect(stored.status == status, "\(said): \(stored)")
            }
        }
    }

    @Test func `transfers that hang leave threads to others, and give them back when their clients leave`() throws {
        let silent = try RecordingOrigin { connection in _ = try connection.wire.readToEnd() }
        let refusing = try server(greeting: "500 go away") { _, _ in nil }
        let outside = MachineAddress.other
        let rules = """
            timeouts { connect 300s; idle 300s; response 300s }
            \(outside.map { "listen \($0):0" } ?? "")
            """
        let setting = AttacheProcess.Setting(clients: "allow 0.0.0.0/0")
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let request = { (port: UInt16) in
                // With a login of their own, they need not wait for the verdict on another's.
                "GET ftp://127.0.0.1:\(port)/x HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                    + "Authorization: Basic b3duOm93bg==\r\n\r\n"
            }
            let held = try (1...32).map { _ in
                let wire = try proxy.connect()
                try wire.send(request(silent.port))
                return wire
            }
            #expect(Wait.until { silent.connections == 32 }, "\(silent.connections)")
            let refused = try proxy.exchange(request(silent.port))
            #expect(refused.status == 503)
            #expect(refused.text.contains("your address has its share of them under way"), "\(refused.text)")
            if let outside, let port = proxy.port(listeningAt: outside) {
                let wire = try Wire(to: port, at: outside)
                try wire.send(request(refusing.port))
                #expect(try wire.readResponse().status == 502)
            }
            for wire in held { wire.close() }
            #expect(try Wait.until { try proxy.exchange(request(refusing.port)).status == 502 })
            #expect(silent.connections == 32)
        }
    }
}
