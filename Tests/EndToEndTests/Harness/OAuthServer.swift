import Foundation
import TestSupport

/// Real servers of OAuth 2.0, started by the tests: an authorization server of authlib, and an MCP server of the SDK that
/// believes its tokens.
final class OAuthServer {
    let port: UInt16
    private let child: Subprocess

    /// - Parameters:
    ///   - script: gets the port as its first argument. It prints a line for each event that a test counts.
    ///   - port: the port of an earlier server that has ended; nil: another one.
    private init(_ script: String, _ arguments: [String], at port: UInt16? = nil) throws {
        self.port = port ?? FreePort.take()
        let path = Scratch.folder("oauth") + "/server.py"
        try Scratch.write(script, to: path)
        child = try Subprocess(
            "python3", [path, "\(self.port)"] + arguments, environment: try PythonPackages.oauthEnvironment())
        try Socket.awaitListener(on: self.port, of: child)
    }

    /// The lines that begin with the word, without it.
    func events(_ word: String) -> [String] {
        child.output.split(separator: "\n").filter { $0.hasPrefix(word + " ") }.map {
            String($0.dropFirst(word.count + 1))
        }
    }

    var errorOutput: String { child.errorOutput }
    /// Ends the server.
    func end() { _ = child.kill() }

    // MARK: - The authorization server

    /// The client's name at the authorization server.
    static let client = "agent"

    /// An authorization server with metadata (RFC 8414), the grant `client_credentials`, and tokens of RFC 9068 for the
    /// resource that is asked for (RFC 8707).
    ///
    /// - Parameters:
    ///   - secret: the file of the client's secret, or of its public key for `private_key_jwt`.
    ///   - lifetime: the lifetime of the tokens in seconds.
    ///   - port: as for `init`.
    static func issuer(secret: String, lifetime: Int, at port: UInt16? = nil) throws -> OAuthServer {
        try OAuthServer(issuerScript, [secret, "\(lifetime)"], at: port)
    }

    /// The issuer identifier.
    var issuerURL: String { "http://127.0.0.1:\(port)" }

    /// It prints `token`, the status, the scope and the resource for each token request.
    private static let issuerScript = """
        import os, sys
        from authlib.integrations.flask_oauth2 import AuthorizationServer
        from authlib.oauth2.rfc6749 import ClientMixin, grants
        from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
        from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
        from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
        from flask import Flask, jsonify, request
        from joserfc.jwk import KeySet, RSAKey

        port, secret, lifetime = int(sys.argv[1]), open(sys.argv[2]).read().strip(), int(sys.argv[3])
        issuer = 'http://127.0.0.1:%d' % port
        method = 'private_key_jwt' if 'PUBLIC KEY' in secret else 'client_secret_basic'
        # The next server of these tokens has the same key.
        kept = sys.argv[2] + '.key'
        if not os.path.exists(kept):
            open(kept, 'wb').write(RSAKey.generate_key(2048, auto_kid=False).as_pem(private=True))
        key = RSAKey.import_key(open(kept, 'rb').read(), {'kid': '1'})
        used = set()

        class Client(ClientMixin):
            def get_client_id(self): return 'agent'
            def get_allowed_scope(self, scope):
                return ' '.join(s for s in (scope or '').split() if s in ('files:read', 'files:write'))
            def check_client_secret(self, text): return method == 'client_secret_basic' and text == secret
            def check_endpoint_auth_method(self, name, endpoint): return name == method
            def check_grant_type(self, grant_type): return grant_type == 'client_credentials'

        # The issuer is the only audience, as OpenID Connect Core 1.0 errata and FAPI 2.0 have it.
        class Assertion(JWTBearerClientAssertion):
            CLIENT_AUTH_METHOD = 'private_key_jwt'
            def get_audiences(self): return [issuer]
            def validate_jti(self, claims, jti):
                known = jti in used
                used.add(jti)
                return not known
            def resolve_client_public_key(self, client): return RSAKey.import_key(secret)

        class Tokens(JWTBearerTokenGenerator):
            def get_jwks(self): return KeySet([key])
            def get_audiences(self, client, user, scope): return request.form.get('resource', 'none')

        app = Flask(__name__)
        server = AuthorizationServer(
            app, query_client=lambda name: Client() if name == 'agent' else None, save_token=lambda *_: None)
        server.register_token_generator('default', Tokens(issuer=issuer, expires_generator=lambda *_: lifetime))
        server.register_client_auth_method('private_key_jwt', Assertion())

        class Grant(grants.ClientCredentialsGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = [method]
        server.register_grant(Grant)

        @app.get('/.well-known/oauth-authorization-server')
        def metadata():
            print('metadata', flush=True)
            return jsonify(AuthorizationServerMetadata({
                'issuer': issuer, 'token_endpoint': issuer + '/token', 'jwks_uri': issuer + '/jwks',
                'response_types_supported': [], 'grant_types_supported': ['client_credentials'],
                'token_endpoint_auth_methods_supported': [method], 'scopes_supported': ['files:read', 'files:write']}))

        @app.post('/token')
        def token():
            response = server.create_token_response()
            print('token', response.status_code, request.form.get('scope'), request.form.get('resource'), flush=True)
            return response

        @app.get('/jwks')
        def jwks(): return jsonify(KeySet([key]).as_dict(private=False))

        app.run(host='127.0.0.1', port=port, threaded=True)
        """

    // MARK: - The MCP server

    /// An MCP server with the tools `add` and `watch`, which takes only tokens of the issuer for itself.
    static func mcp(trusting issuer: OAuthServer) throws -> OAuthServer {
        try OAuthServer(mcpScript, [issuer.issuerURL])
    }

    /// The URL of the MCP server.
    var mcpURL: String { "http://127.0.0.1:\(port)/mcp" }

    /// It prints `accepted` and the token's identifier for each request with a valid token, `refused` for others.
    private static let mcpScript = """
        import asyncio, sys
        from asyncio import sleep as pause
        import jwt
        from mcp.server.auth.provider import AccessToken
        from mcp.server.auth.settings import AuthSettings
        from mcp.server.mcpserver import Context, MCPServer

        port, issuer = int(sys.argv[1]), sys.argv[2]
        url = 'http://127.0.0.1:%d/mcp' % port
        keys = jwt.PyJWKClient(issuer + '/jwks')

        class Verifier:
            async def verify_token(self, token):
                try:
                    key = await asyncio.to_thread(keys.get_signing_key_from_jwt, token)
                    claims = jwt.decode(token, key.key, algorithms=['RS256'], audience=url, issuer=issuer)
                except Exception as error:
                    print('refused', error, flush=True)
                    return None
                print('accepted', claims['jti'], flush=True)
                return AccessToken(
                    token=token, client_id=claims['client_id'], scopes=claims['scope'].split(),
                    expires_at=claims['exp'], resource=url)

        server = MCPServer('files', token_verifier=Verifier(), auth=AuthSettings(
            issuer_url=issuer, resource_server_url=url, required_scopes=['files:read'], validate_token_resource=True))

        @server.tool()
        def add(a: int, b: int) -> int:
            return a + b

        @server.tool()
        async def watch(steps: int, context: Context) -> str:
            for step in range(steps):
                await context.report_progress(step, steps, 'step')
                await pause(0.5)
            return '%d steps' % steps

        server.run(transport='streamable-http', host='127.0.0.1', port=port)
        """

    /// The SDK's client without its OAuth provider, by the variable `HTTP_PROXY`. It lists the tools and calls `add`. With
    /// steps it also keeps a call of `watch` open, and calls `add` beside it.
    static func callTools(_ url: String, steps: Int = 0, through proxy: AttacheProcess) throws -> Finished {
        let path = Scratch.folder("oauth") + "/client.py"
        try Scratch.write(clientScript, to: path)
        var environment = try PythonPackages.oauthEnvironment()
        environment["HTTP_PROXY"] = proxy.address
        return try Finished.run("python3", [path, url, "\(steps)"], environment: environment, seconds: 180)
    }

    private static let clientScript = """
        import asyncio, sys
        from asyncio import sleep as pause
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        url, steps = sys.argv[1], int(sys.argv[2])

        async def add(session, a, b):
            result = await session.call_tool('add', {'a': a, 'b': b})
            return result.content[0].text

        async def main():
            async with streamable_http_client(url) as streams:
                async with ClientSession(streams[0], streams[1]) as session:
                    await session.initialize()
                    tools = await session.list_tools()
                    print('tools', ' '.join(sorted(tool.name for tool in tools.tools)), flush=True)
                    print('add', await add(session, 2, 3), flush=True)
                    if not steps: return
                    seen = []
                    async def progress(step, total, message): seen.append(step)
                    call = asyncio.create_task(
                        session.call_tool('watch', {'steps': steps}, progress_callback=progress))
                    sums = set()
                    while not call.done():
                        sums.add(await add(session, 2, 3))
                        await pause(0.5)
                    result = await call
                    print('watch', result.content[0].text, len(seen), ' '.join(sums), flush=True)

        asyncio.run(main())
        """
}
