import Foundation
import TestSupport
import Testing

/// A store that is made, or named, while the proxy runs.
struct LateStoreTests {
    private func origin() throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            guard request["Authorization"] == "Bearer t.o.k" else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer realm=\"api\""])
            }
            try connection.reply(body: "ok")
        }
    }

    @Test(arguments: ["", "store sqlite @/named.db\n"])
    func `it is opened when the rule file is read again`(rules: String) throws {
        let origin = try origin()
        // A credential of the rule file, whose fingerprints are others from then on.
        let other = "credential ci { user bob; password file @/password }\nchallenge { host 127.0.0.2; use ci }\n"
        try AttacheProcess.running(other) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 401)
            let text = (rules + other).replacing("@/", with: proxy.folder + "/")
            try proxy.reload(text)
            if !rules.isEmpty { #expect(proxy.awaitErrorOutput("the credential store has a new key")) }
            try Scratch.write("t.o.k\n", to: proxy.folder + "/token", mode: 0o600)
            let run = try Finished.run(
                AttacheBinary.path,
                ["credential", "set", origin.url(), "--token", "token", "--config", "proxy.conf"],
                directory: proxy.folder, seconds: 20)
            #expect(run.succeeded, "\(run)")
            if rules.isEmpty {
                #expect(run.errorOutput.contains("opens it after 'attache reload'"), "\(run)")
                #expect(try proxy.get(origin.url()).status == 401)
                try proxy.reload(text)
            }
            #expect(try Wait.until { try proxy.get(origin.url()).text == "ok" }, "\(proxy.errorOutput)")
            let metrics = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics").text
            #expect(metrics.contains("attache_store_up 1\n"))
            let removal = try Finished.run(
                AttacheBinary.path,
                ["credential", "remove", origin.url(), "--method", "bearer", "--config", "proxy.conf"],
                directory: proxy.folder, seconds: 20)
            #expect(removal.succeeded, "\(removal)")
            #expect(try Wait.until { try proxy.get(origin.url()).status == 401 })
        }
    }

    @Test func `one that cannot be opened leaves the running rules`() throws {
        let origin = try origin()
        try AttacheProcess.running { proxy throws in
            try proxy.reload("store sqlite \(proxy.folder)/named.db { key file \(proxy.folder)/no.key }\n")
            #expect(proxy.awaitErrorOutput("the rule file was not reloaded"))
            #expect(try proxy.get(origin.url()).status == 401)
            try Scratch.write(String(repeating: "1", count: 64), to: proxy.folder + "/no.key", mode: 0o600)
            try proxy.reload("store sqlite \(proxy.folder)/named.db { key file \(proxy.folder)/no.key }\n")
            #expect(proxy.awaitErrorOutput("the rule file was reloaded"))
        }
    }
}
