import Foundation
import Synchronization
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
}
