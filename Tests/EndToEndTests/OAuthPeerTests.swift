import Foundation
import TestSupport
import Testing

/// MCP and OAuth 2.0 with servers and clients of other projects: the MCP SDK, authlib and glewlwyd.
struct OAuthPeerTests {
    private static let secret = "s3cret-of-the-agent"

    private static func rules(_ issuer: OAuthServer, _ server: OAuthServer) -> String {
        """
        credential mcp { issuer \(issuer.issuerURL); client-id agent; client-secret file @/secret; scope files:read }
        challenge "mcp" { host 127.0.0.1; port \(server.port); use mcp }
        """
    }

    private static func servers(lifetime: Int) throws -> (issuer: OAuthServer, mcp: OAuthServer, secret: String) {
        let file = Scratch.folder("oauth") + "/secret"
        try Scratch.write(secret + "\n", to: file, mode: 0o600)
        let issuer = try OAuthServer.issuer(secret: file, lifetime: lifetime)
        return (issuer, try OAuthServer.mcp(trusting: issuer), file)
    }

    private static let setting = AttacheProcess.Setting(files: ["secret": secret + "\n"])

    @Test func `the MCP SDK's client without OAuth lists and calls tools`() throws {
        let (issuer, mcp, _) = try Self.servers(lifetime: 3600)
        try AttacheProcess.running(Self.rules(issuer, mcp), setting: Self.setting) { proxy throws in
            for _ in 0..<2 {
                let run = try OAuthServer.callTools(mcp.mcpURL, through: proxy)
                #expect(run.output == "tools add watch\nadd 5\n", "\(run)\(mcp.errorOutput)\(proxy.accessLog)")
            }
            #expect(issuer.events("token") == ["200 files:read \(mcp.mcpURL)"])
            #expect(mcp.events("refused").isEmpty && Set(mcp.events("accepted")).count == 1)
            #expect(!proxy.accessLog.contains(Self.secret))
        }
    }

    /// A token lives for five seconds, and the response for fifteen.
    @Test
    func `a response that lasts for three lives of a token is not touched, and each token that is fetched is used`()
        throws
    {
        let (issuer, mcp, _) = try Self.servers(lifetime: 5)
        try AttacheProcess.running(Self.rules(issuer, mcp), setting: Self.setting) { proxy throws in
            let run = try OAuthServer.callTools(mcp.mcpURL, steps: 30, through: proxy)
            #expect(run.output.contains("\nwatch 30 steps 30 5\n"), "\(run)\(mcp.errorOutput)\(proxy.accessLog)")
            let (fetched, used) = (issuer.events("token").count, Set(mcp.events("accepted")).count)
            // The last one may have come behind the last request.
            #expect(used > 2 && fetched - used <= 1, "\(fetched) \(used)")
        }
    }

    @Test func `while the issuer is down the token that is held serves, and then it is asked again`() throws {
        let (issuer, mcp, file) = try Self.servers(lifetime: 12)
        try AttacheProcess.running(Self.rules(issuer, mcp), setting: Self.setting) { proxy throws in
            #expect(try OAuthServer.callTools(mcp.mcpURL, through: proxy).succeeded)
            let post = [
                "-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream", "-d", "{}",
            ]
            let status = { try Curl.fetch(mcp.mcpURL, ["-x", proxy.address] + post) }
            issuer.end()
            // Until the token ends no request is refused, and then it is the client's 401 with the reason.
            var last = try status()
            let isOver = try Wait.until {
                last = try status()
                return last.status == 401
            }
            #expect(isOver && last["Proxy-Status"]?.contains("credential mcp has no token: ") == true, "\(last)")
            #expect(mcp.events("refused").isEmpty, "\(mcp.events("refused"))")
            let next = try OAuthServer.issuer(secret: file, lifetime: 3600, at: issuer.port)
            let isBack = try Wait.until {
                last = try status()
                return last.status != 401
            }
            #expect(isBack && next.events("token").count == 1, "\(last)\(next.errorOutput)\(mcp.events("refused"))")
            withExtendedLifetime(next) {}
        }
    }

    /// The only audience that this server takes is the issuer.
    @Test func `authlib takes an assertion for the issuer`() throws {
        let key = try Self.key()
        let issuer = try OAuthServer.issuer(secret: key.publicKey, lifetime: 3600)
        let mcp = try OAuthServer.mcp(trusting: issuer)
        let proof = "key \(key.path)"
        let rules = Self.rules(issuer, mcp).replacing("client-secret file @/secret", with: proof)
        try AttacheProcess.running(rules) { proxy throws in
            let run = try OAuthServer.callTools(mcp.mcpURL, through: proxy)
            #expect(run.output == "tools add watch\nadd 5\n", "\(run)\(issuer.errorOutput)\(proxy.accessLog)")
            #expect(issuer.events("token") == ["200 files:read \(mcp.mcpURL)"])
        }
        let other = rules.replacing(proof, with: "\(proof); assertion-audience endpoint")
        try AttacheProcess.running(other) { proxy throws in
            #expect(!(try OAuthServer.callTools(mcp.mcpURL, through: proxy).succeeded))
            #expect(issuer.events("token").count == 2 && issuer.events("token").last?.hasPrefix("400 ") == true)
        }
    }

    private static func key() throws -> (path: String, publicKey: String) {
        let folder = Scratch.folder("key")
        let (path, publicKey) = (folder + "/key.pem", folder + "/public.pem")
        #expect(try Finished.run("openssl", ["genrsa", "-out", path, "2048"]).succeeded)
        #expect(try Finished.run("openssl", ["rsa", "-in", path, "-pubout", "-out", publicKey]).succeeded)
        return (path, publicKey)
    }

    // MARK: - glewlwyd

    /// glewlwyd 2.7 takes its own endpoint as the only audience.
    @Test(.enabled(if: GlewlwydServer.isInstalled, "it is not packaged for this system"))
    func `glewlwyd takes an assertion for its endpoint, and its token is for the resource`() throws {
        let key = try Self.key()
        let server = try AnnouncingServer()
        let glewlwyd = try GlewlwydServer(client: OAuthServer.client, publicKey: key.publicKey, resource: server.url)
        let issuer = glewlwyd.issuer
        server.change { $0.issuers = [issuer] }
        let rules = """
            credential mcp { issuer \(glewlwyd.issuer); client-id agent; key \(key.path); scope read; assertion-audience endpoint }
            challenge "mcp" { host 127.0.0.1; port \(server.origin.port); use mcp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            _ = try proxy.get(server.url)
            let sent = server.origin.messages.compactMap { $0["Authorization"] }
            #expect(sent.count >= 1, "\(glewlwyd.output)\(proxy.accessLog)")
            let claims = try #require(sent.first.flatMap(Self.claims))
            #expect(claims["aud"] as? String == server.url && claims["iss"] as? String == glewlwyd.issuer)
            #expect(claims["client_id"] as? String == "agent" && claims["scope"] as? String == "read")
        }
        try AttacheProcess.running(rules.replacing("; assertion-audience endpoint", with: "")) { proxy throws in
            let fetched = try proxy.get(server.url)
            #expect(fetched.status == 401)
            #expect(fetched["Proxy-Status"]?.contains("has no token: ") == true, "\(fetched)")
        }
    }

    /// The claims of a JWT in a field.
    private static func claims(_ field: String) -> [String: Any]? {
        let parts = field.split(separator: " ").last?.split(separator: ".") ?? []
        guard parts.count == 3 else { return nil }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: text) else { return nil }
        return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }
}
