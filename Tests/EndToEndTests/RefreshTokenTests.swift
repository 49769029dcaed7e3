import Foundation
import TestSupport
import Testing

/// An endpoint that rotates refresh tokens (RFC 6749 section 6), and ends all of them when one comes twice.
struct RefreshTokenTests {
    private func rules(_ server: TokenServer) -> String {
        """
        credential crm { oauth2 \(server.url); client-id crm; refresh-token file @/refresh; client-secret file @/secret }
        challenge { host 127.0.0.1; port \(server.api.port); use crm }
        """
    }

    private static let files = ["refresh": TokenServer.refreshToken(0) + "\n", "secret": "s3cret\n"]

    @Test func `a token is renewed many times, by the next process too, and nobody reads by what`() throws {
        let server = try TokenServer(.init(rotates: true))
        let folder = Scratch.folder("store")
        let rules = "store sqlite \(folder)/credentials.db\n" + rules(server)
        for run in 1...2 {
            // The former process's token is refused.
            let former = server.issued
            server.change {
                $0.lifetime = 1
                $0.refusedTokens = former
            }
            try AttacheProcess.running(rules, setting: .init(files: Self.files)) { proxy throws in
                let serves = { (condition: () -> Bool) throws in
                    try Wait.until {
                        let status = try proxy.get(server.api.url()).status
                        #expect(status == 200)
                        return status != 200 || condition()
                    }
                }
                #expect(try serves { server.issued >= former + 3 })
                // A different proof does not start again with the first token.
                let proof = "another \(run)"
                try proxy.replace("secret", with: proof + "\n")
                let field = "Basic \(Data("crm:another%20\(run)".utf8).base64EncodedString())"
                #expect(try serves { server.endpoint.messages.last?["Authorization"] == field })
                let last = server.issued
                server.change { $0.lifetime = 3600 }
                #expect(try serves { server.issued > last && server.used.last == "\(server.issued)" })
                let written = proxy.accessLog + proxy.errorOutput
                #expect(!written.contains(TokenServer.refreshStem) && !written.contains(proof))
            }
        }
        #expect(server.refused == 0)
        for name in ["credentials.db", "credentials.db-wal"] {
            #expect(Data(Scratch.bytes("\(folder)/\(name)")).range(of: Data(TokenServer.refreshStem.utf8)) == nil)
        }
    }

    /// Whether the proxy has four clients that are connected.
    private func isBusy(_ proxy: AttacheProcess) throws -> Bool { try proxy.metric("attache_clients_open") == 4 }

    @Test func `three replicas never send the same refresh token`() throws {
        let cluster = try PostgreSQLCluster()
        let gate = Gate()
        let server = try TokenServer(.init(lifetime: 2, gate: gate, rotates: true))
        let rules = "store postgresql \"\(cluster.info)\" { key file @/store.key }\n" + rules(server)
        var setting = AttacheProcess.Setting(threads: 1, files: Self.files)
        setting.files["store.key"] = String(repeating: "7", count: 64) + "\n"
        try AttacheProcess.running(rules, setting: setting) { first throws in
            try AttacheProcess.running(rules, setting: setting) { second throws in
                try AttacheProcess.running(rules, setting: setting) { third throws in
                    let proxies = [first, second, third]
                    let isServed = try Wait.until {
                        let requests = try proxies.map { try Parallel(4, server.api.url(), through: $0) }
                        // The first token is given when all of them want it.
                        #expect(try Wait.until { try gate.isOpen || proxies.allSatisfy { try isBusy($0) } })
                        gate.open()
                        let statuses = requests.flatMap { $0.statuses() }
                        #expect(statuses == Array(repeating: 200, count: 12), "\(statuses)")
                        return server.issued >= 5 || server.refused > 0
                    }
                    #expect(isServed)
                }
            }
        }
        #expect(server.refused == 0)
    }
}
