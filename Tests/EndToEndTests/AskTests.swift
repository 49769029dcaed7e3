import Foundation
import TestSupport
import Testing

/// `ask`: requests are held until an operator answers by `attache ask`.
struct AskTests {
    private static let password = "p4ssword-Of.A~Person"

    private func attache(_ arguments: [String], of proxy: AttacheProcess) throws -> Finished {
        try Finished.run(
            AttacheBinary.path, arguments + ["--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
    }

    private func guardedOrigin() throws -> RecordingOrigin {
        let right = "Basic " + Data("builder:\(Self.password)".utf8).base64EncodedString()
        return try RecordingOrigin.answering { request, connection in
            if request["Authorization"] == right { return try connection.reply(body: "ok") }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"\u{202E}<script>\""])
        }
    }

    @Test func `an operator who knows the password lets every request that waits go on, and the next`() throws {
        let origin = try guardedOrigin()
        let setting = AttacheProcess.Setting(files: ["answer": Self.password + "\n"])
        try AttacheProcess.running("challenge \"people\" { host 127.0.0.1; ask }", setting: setting) { proxy throws in
            let held = try Subprocess(
                "curl",
                ["-q", "-sS", "-x", proxy.address, "--parallel", "--parallel-immediate", "-w", "%{http_code}\n"]
                    + (1...5).flatMap { ["-o", "/dev/null", origin.url("/\($0)")] })
            defer { _ = held.kill() }
            let isListed = try Wait.until {
                try attache(["ask"], of: proxy).output.contains("5 requests of 127.0.0.1")
            }
            let list = try attache(["ask"], of: proxy).output
            #expect(isListed, "\(list)")
            #expect(list.contains("asks for a login (basic) for realm") && !list.contains("\u{202E}"), "\(list)")
            let status = try attache(["status"], of: proxy).output
            #expect(status.contains("questions: 1 challenge for an operator"), "\(status)")
            #expect(!status.contains("unanswered"), "\(status)")
            let challenges = try attache(["challenges"], of: proxy).output
            #expect(challenges.hasPrefix("waiting for an operator\n"), "\(challenges)")
            #expect(!challenges.contains("not answered"), "\(challenges)")
            let json = try attache(["ask", "--json"], of: proxy).output
            let document = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            let questions = document?["questions"] as? [[String: Any]]
            #expect(questions?.first?["waiting"] as? Int == 5, "\(json)")
            let wrong = try attache(["ask", "answer", "1", "use", "nobody"], of: proxy)
            #expect(wrong.status == 1 && wrong.errorOutput.contains("nobody"), "\(wrong)")
            let answered = try attache(
                ["ask", "answer", "1", "user", "builder", "--password-file", "answer"], of: proxy)
            #expect(answered.succeeded, "\(answered)")
            #expect(held.wait(seconds: 60) == 0)
            #expect(held.output == String(repeating: "200\n", count: 5), "\(held.output) \(held.errorOutput)")
            #expect(try Curl.fetch(origin.url("/next"), ["-x", proxy.address]).status == 200)
            let late = try attache(["ask", "answer", "1", "cancel"], of: proxy)
            #expect(late.status == 1 && late.errorOutput.contains("question 1 is closed"), "\(late)")
            let log = proxy.accessLog
            #expect(log.contains("\"event\":\"question.answered\"") && !log.contains(Self.password), "\(log)")
        }
    }

    @Test func `of a thousand questions the last hundred wait, and others are answered meanwhile`() throws {
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.request() else { return }
            let challenge = "WWW-Authenticate: Basic realm=\"\(request.target)\""
            try connection.reply("401 Unauthorized", [challenge, "Connection: close"])
        }
        let plain = try RecordingOrigin.answering()
        let rules = "challenge \"people\" { host 127.0.0.1; port \(origin.port); ask }\ntimeouts { ask 10m }"
        try AttacheProcess.running(rules) { proxy throws in
            var wires: [Wire] = []
            defer { for wire in wires { wire.close() } }
            for number in 1...1000 {
                let wire = try Wire(to: proxy.port)
                wires.append(wire)
                try wire.send("GET \(origin.url("/\(number)")) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
                if number.isMultiple(of: 100) { #expect(try proxy.get(plain.url()).status == 200) }
            }
            let isSettled = try Wait.until {
                try proxy.metric("attache_questions_unanswered_total{reason=\"displaced\"}") == 900
            }
            let list = try attache(["ask"], of: proxy)
            #expect(isSettled, "\(list)")
            #expect(try proxy.metric("attache_questions_open") == 100)
            #expect(try Wait.until { try proxy.metric("attache_requests_total{code=\"5xx\"}") == 900 })
            #expect(list.output.components(separatedBy: "asks for a login").count == 101, "\(list)")
            #expect(try proxy.get(plain.url()).status == 200)
        }
    }

    @Test func `an answer that holds is listed, and taken back alone`() throws {
        let origin = try guardedOrigin()
        let rules = """
            credential ci { user builder; password file @/answer }
            challenge "people" { host 127.0.0.1; ask }
            """
        let setting = AttacheProcess.Setting(files: ["answer": Self.password + "\n"])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            #expect(try attache(["ask", "answers"], of: proxy).errorOutput.contains("no answer is saved"))
            let held = try Subprocess("curl", ["-q", "-sS", "-x", proxy.address, origin.url()])
            defer { _ = held.kill() }
            #expect(try Wait.until { try attache(["ask"], of: proxy).output.contains("credentials: ci\n") })
            #expect(try attache(["ask", "answer", "1", "use", "ci"], of: proxy).succeeded)
            #expect(held.wait(seconds: 60) == 0 && held.output == "ok")
            #expect(try proxy.get(origin.url("/next")).status == 200)
            let list = try attache(["ask", "answers"], of: proxy).output
            #expect(list.hasPrefix("1  127.0.0.1:\(origin.port) asks for a login (basic) for realm"), "\(list)")
            #expect(list.contains("\n   use ci, since 20") && list.contains("\n   rule \"people\" ("), "\(list)")
            #expect(!list.contains("\u{202E}"), "\(list)")
            let json = try attache(["ask", "answers", "--json"], of: proxy).output
            let document = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            let answers = document?["answers"] as? [[String: Any]]
            #expect(answers?.first?["answer"] as? String == "use ci" && answers?.count == 1, "\(json)")
            let forgotten = try attache(["ask", "forget", "1"], of: proxy)
            #expect(forgotten.succeeded && forgotten.output.contains("'use ci' is no longer saved"), "\(forgotten)")
            let again = try attache(["ask", "forget", "1"], of: proxy)
            #expect(again.status == 1 && again.errorOutput.contains("no saved answer 1"), "\(again)")
            let asked = try Subprocess(
                "curl", ["-q", "-sS", "-x", proxy.address, "-o", "/dev/null", "-w", "%{http_code}", origin.url()])
            defer { _ = asked.kill() }
            #expect(try Wait.until { try attache(["ask"], of: proxy).output.hasPrefix("2  ") })
            #expect(try attache(["ask", "answer", "2", "reject"], of: proxy).succeeded)
            #expect(asked.wait(seconds: 60) == 0 && asked.output == "401")
            #expect(try proxy.get(origin.url("/next")).status == 401)
            #expect(proxy.accessLog.contains("\"event\":\"answer.forgotten\""), "\(proxy.accessLog)")
        }
    }

    @Test func `an exception for a key that an operator made is taken back`() throws {
        let expired = try Specimen["expired"]
        let rules = "store sqlite @/kept.db\nchallenge \"keys\" { method server-trust; ask }\n"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let visit = { () throws in
                try Subprocess(
                    "curl",
                    [
                        "-q", "-sS", "-x", proxy.address, "-o", "/dev/null", "-w", "%{http_code}",
                        "http://\(try Zoo.shared().authority(of: expired))/",
                    ])
            }
            let held = try visit()
            defer { _ = held.kill() }
            #expect(try Wait.until { try attache(["ask"], of: proxy).output.hasPrefix("1  ") })
            #expect(try attache(["ask", "answer", "1", "trust"], of: proxy).succeeded)
            #expect(held.wait(seconds: 60) == 0 && held.output == "200", "\(held.output) \(held.errorOutput)")
            #expect(try proxy.visit(expired, by: .upgraded).status == 200)
            let list = try attache(["ask", "answers"], of: proxy).output
            #expect(list.contains("\n   trust sha256/") && list.contains(" until 20"), "\(list)")
            #expect(try attache(["ask", "forget", "1"], of: proxy).succeeded)
            #expect(try attache(["ask", "answers"], of: proxy).output.isEmpty)
            let asked = try visit()
            defer { _ = asked.kill() }
            #expect(try Wait.until { try attache(["ask"], of: proxy).output.hasPrefix("2  ") })
            #expect(try attache(["ask", "answer", "2", "cancel"], of: proxy).succeeded)
            #expect(asked.wait(seconds: 60) == 0 && asked.output == "502")
        }
    }

    @Test func `the login to an FTP server is asked for, too`() throws {
        let server = try VsftpdServer.shared()
        let rules = "challenge \"files\" { protocol ftp; host 127.0.0.1; port \(server.port); ask }"
        let setting = AttacheProcess.Setting(files: ["answer": Account.password + "\n", "wrong": "wr0ng-Password\n"])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let held = try Subprocess("curl", ["-q", "-sS", "-x", proxy.address, server.url("/pub/hello.txt")])
            defer { _ = held.kill() }
            let isListed = try Wait.until {
                try attache(["ask"], of: proxy).output.contains("asks for a login (basic)")
            }
            #expect(isListed, "\(proxy.errorOutput)")
            let answer = { (id: String, file: String) in
                try attache(
                    ["ask", "answer", id, "user", VsftpdServer.user, "--password-file", file], of: proxy)
            }
            #expect(try answer("1", "wrong").succeeded)
            #expect(try Wait.until { try attache(["ask"], of: proxy).output.contains("1 refused") })
            #expect(try answer("2", "answer").succeeded)
            #expect(held.wait(seconds: 60) == 0 && held.output == "hello, ftp\n", "\(held.output)")
        }
    }

    @Test func `nobody answers, and the client is told so`() throws {
        let origin = try guardedOrigin()
        let rules = "timeouts { ask 1s }\nchallenge \"people\" { host 127.0.0.1; ask }"
        try AttacheProcess.running(rules) { proxy throws in
            let fetched = try Curl.fetch(origin.url(), ["-x", proxy.address])
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("asks the operator, who did not answer within 1 s"), "\(fetched)")
            #expect(try attache(["ask"], of: proxy).errorOutput.contains("no challenge is waiting"))
        }
    }

    @Test func `a webhook is told of each question, and its signature is good`() throws {
        let origin = try RecordingOrigin.answering { _, connection in
            let fields = ["WWW-Authenticate: Basic realm=\"r\"", "X-Reason: locked", "Content-Type: text/plain"]
            try connection.reply("401 Unauthorized", fields, "the account is locked")
        }
        let receiver = try RecordingOrigin.answering { request, connection in
            try connection.reply(request.method == "POST" ? "204 No Content" : "405 Method Not Allowed")
        }
        let rules = """
            ask webhook \(receiver.url("/hook")) { key file @/hook }
            challenge "people" { host 127.0.0.1; port \(origin.port); ask }
            """
        let setting = AttacheProcess.Setting(files: ["hook": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let held = try Subprocess("curl", ["-q", "-sS", "-x", proxy.address, origin.url()])
            defer { _ = held.kill() }
            #expect(Wait.until { !receiver.messages.isEmpty })
            let call = try #require(receiver.messages.first)
            #expect(call.target == "/hook")
            let body = call.text
            let script = """
                import base64, hashlib, hmac, json, sys
                key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
                name, time, signature, body = sys.argv[1:]
                wanted = hmac.new(key, f"{name}.{time}.{body}".encode(), hashlib.sha256).digest()
                assert signature == "v1," + base64.b64encode(wanted).decode(), signature
                question = json.loads(body)
                assert question["type"] == "question" and question["rule"]["name"] == "people", question
                assert question["status"] == 401 and question["text"] == "the account is locked", question
                assert question["fields"] == ["X-Reason: locked"], question
                print(question["id"])
                """
            let fields = ["webhook-id", "webhook-timestamp", "webhook-signature"].map { call[$0] ?? "" }
            let checked = try Finished.run("python3", ["-c", script] + fields + [body])
            #expect(checked.succeeded && checked.output == "1\n", "\(checked) \(body)")
            #expect(try attache(["ask", "answer", "1", "cancel"], of: proxy).succeeded)
            #expect(held.wait(seconds: 60) == 0)
        }
    }
}
