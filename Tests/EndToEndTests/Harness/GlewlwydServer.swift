import Foundation
import TestSupport

/// The authorization server glewlwyd, with one client that proves itself by `private_key_jwt`.
final class GlewlwydServer {
    let issuer: String
    private let child: Subprocess

    static var isInstalled: Bool { (try? Spawn.executable("glewlwyd")) != nil }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameters:
    ///   - publicKey: the file of the client's key.
    ///   - resource: the resource that its tokens may be for (RFC 8707).
    init(client: String, publicKey: String, resource: String) throws {
        let (folder, port) = (Scratch.folder("glewlwyd"), FreePort.take())
        issuer = "http://127.0.0.1:\(port)/api/id"
        let tables = try Finished.run(
            "sqlite3", [folder + "/db"], input: "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
        guard tables.succeeded else { throw Failure(description: "\(tables)") }
        let modules = "/usr/lib/glewlwyd"
        try Scratch.write(
            """
            port=\(port)
            bind_address="127.0.0.1"
            external_url="http://127.0.0.1:\(port)"
            api_prefix="api"
            log_mode="console"
            log_level="DEBUG"
            session_key="SESSION"
            admin_scope="g_admin"
            profile_scope="g_profile"
            user_module_path="\(modules)/user"
            client_module_path="\(modules)/client"
            user_auth_scheme_module_path="\(modules)/scheme"
            plugin_module_path="\(modules)/plugin"
            hash_algorithm="SHA512"
            database = { type = "sqlite3"; path = "\(folder)/db" };

            """, to: folder + "/glewlwyd.conf")
        child = try Subprocess("glewlwyd", ["--config-file=\(folder)/glewlwyd.conf"], directory: folder)
        try Socket.awaitListener(on: port, of: child)
        let (key, certificate) = (folder + "/sign.pem", folder + "/signed.pem")
        for arguments in [["genrsa", "-out", key, "2048"], ["rsa", "-in", key, "-pubout", "-out", certificate]] {
            let made = try Finished.run("openssl", arguments)
            guard made.succeeded else { throw Failure(description: "\(made)") }
        }
        try post("auth/", ["username": "admin", "password": "password"], in: folder)
        try post(
            "scope/",
            [
                "name": "read", "display_name": "read", "description": "read", "password_required": false,
                "password_max_age": 0, "scheme": [String: Any](),
            ], in: folder)
        var parameters: [String: Any] = [
            "iss": issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": Scratch.read(key),
            "cert": Scratch.read(certificate), "access-token-duration": 60, "refresh-token-duration": 600,
            "code-duration": 60, "refresh-token-rolling": true, "allow-non-oidc": true, "jwks-show": true,
            "request-parameter-allow": true, "client-pubkey-parameter": "pubkey", "resource-allowed": true,
            "resource-scope": ["read": [resource]],
        ]
        for grant in ["code", "token", "id-token", "password", "client", "refresh", "none"] {
            parameters["auth-type-\(grant)-enabled"] = grant == "client" || grant == "id-token"
        }
        try post(
            "mod/plugin/", ["module": "oidc", "name": "id", "display_name": "id", "parameters": parameters], in: folder)
        try post(
            "client/",
            [
                "client_id": client, "name": client, "description": client, "confidential": true, "enabled": true,
                "password": "", "scope": ["read"], "authorization_type": ["client_credentials"],
                "token_endpoint_auth_method": ["private_key_jwt"], "redirect_uri": ["http://127.0.0.1/"],
                "pubkey": Scratch.read(publicKey),
            ], in: folder)
    }

    var output: String { child.output + child.errorOutput }

    /// Calls the administration API, in one session.
    private func post(_ path: String, _ document: [String: Any], in folder: String) throws {
        let body = folder + "/body.json"
        try JSONSerialization.data(withJSONObject: document).write(to: URL(fileURLWithPath: body))
        let api = issuer.dropLast("id".count)
        let fetched = try Curl.fetch(
            "\(api)\(path)",
            [
                "-b", folder + "/cookies", "-c", folder + "/cookies", "-H", "Content-Type: application/json", "-d",
                "@\(body)",
            ])
        guard fetched.status == 200 else { throw Failure(description: "\(path): \(fetched)\n\(output)") }
    }
}
