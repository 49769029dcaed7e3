import Foundation
import Testing

/// Credentials that outlive the process.
struct CredentialStoreTests {
    private let accepted = Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()

    private func origin() throws -> RecordingOrigin {
        let accepted = accepted
        return try RecordingOrigin.answering { request, connection in
            let isRight = request["Authorization"] == "Basic \(accepted)"
            let challenge = isRight ? [] : ["WWW-Authenticate: Basic realm=\"r\""]
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", challenge)
        }
    }

    private func withUser(_ url: String) -> String {
        let password = Account.password.replacing("/", with: "%2F")
        return url.replacing("://", with: "://\(Account.user):\(password)@")
    }

    @Test func `a credential from a URL is there after a restart, if the rule says so`() throws {
        let origin = try origin()
        let store = Scratch.folder("store") + "/credentials.db"
        for persistence in ["permanent", "session"] {
            let path = store + "." + persistence
            let rules = "store sqlite \(path)\nchallenge { host 127.0.0.1; default; persistence \(persistence) }"
            try AttacheProcess.running(rules) { proxy throws in
                #expect(try proxy.get(origin.url()).status == 401)
                #expect(try proxy.get(withUser(origin.url())).status == 200)
                // The client has its answer before the credential is on the disk.
                if persistence == "permanent" {
                    #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
                }
            }
            try AttacheProcess.running(rules) { proxy throws in
                #expect(try proxy.get(origin.url()).status == (persistence == "permanent" ? 200 : 401))
            }
            #expect(Data(Scratch.bytes(path)).range(of: Data(Account.password.utf8)) == nil)
        }
    }

    @Test func `without a word about it nothing is kept, and no file is made`() throws {
        let origin = try origin()
        try AttacheProcess.running("challenge { host 127.0.0.1; default }") { proxy throws in
            #expect(try proxy.get(withUser(origin.url())).status == 200)
            #expect(try proxy.get(origin.url()).status == 401)
            #expect(!FileManager.default.fileExists(atPath: proxy.folder + "/credentials.db"))
            let metrics = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics").text
            #expect(!metrics.contains("attache_store_up"))
        }
    }

    @Test func `a rule that keeps something makes a store in the state directory, with its key beside it`() throws {
        try AttacheProcess.running("challenge { host 127.0.0.1; default; persistence permanent }") { proxy throws in
            for name in ["credentials.db", "credentials.key"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(proxy.folder)/\(name)")
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
            #expect(proxy.awaitErrorOutput("the credential store has a new key"))
            let metrics = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics").text
            #expect(metrics.contains("attache_store_up 1\n"))
        }
    }
}
