import Foundation
import Testing

/// Requests that the proxy signs by OAuth 1.0a and HTTP Message Signatures, judged by servers' libraries of other
/// projects: oauthlib and http-message-signatures.
struct RequestSignerTests {
    private static let consumerSecret = "c0nsumer/+&secret"
    private static let tokenSecret = "t0ken %secret"

    private func signing(
        _ credential: String, modifiers: String = "", _ body: (AttacheProcess, RecordingOrigin) throws -> Void
    ) throws {
        let origin = try RecordingOrigin.answering { request, connection in
            let asked = request.target.hasPrefix("/ask") && request["Signature"] == nil
            try connection.reply(
                asked ? "403 Forbidden" : "200 OK",
                asked ? [#"Accept-Signature: sig1=("@method" "@target-uri" "content-digest");nonce="n1""#] : [],
                "received \(request.body.count)")
        }
        let rule = """
            credential signer { \(credential) }
            challenge "signed" { host 127.0.0.1; port \(origin.port); use signer; \(modifiers) }
            """
        let files = ["cs": Self.consumerSecret + "\n", "ts": Self.tokenSecret + "\n"]
        try AttacheProcess.running(rule, setting: .init(files: files)) { proxy throws in
            try body(proxy, origin)
            for secret in [Self.consumerSecret, Self.tokenSecret] { #expect(!proxy.accessLog.contains(secret)) }
        }
    }

    /// Has a script read each request from standard input; it prints `right` for each.
    private func expectRight(
        _ origin: RecordingOrigin, _ requests: [Message], by script: String, _ arguments: [String]
    ) throws {
        for message in requests {
            let folder = Scratch.folder("signer")
            try Scratch.write(message.head, to: folder + "/head")
            try Data(message.body).write(to: URL(fileURLWithPath: folder + "/body"))
            let run = try Finished.run(
                "python3", ["-c", Self.reading + script, folder, "http://127.0.0.1:\(origin.port)"] + arguments,
                environment: try PythonPackages.environment(), seconds: 30)
            #expect(run.output == "right\n", "\(run.output)\(run.errorOutput)\(message.head)")
        }
    }

    private static let reading = """
        import sys
        folder, origin = sys.argv[1:3]
        head = open(folder + '/head', newline='').read().split('\\r\\n')
        body = open(folder + '/body', 'rb').read()
        method, target, _ = head[0].split(' ')
        fields = dict(line.split(': ', 1) for line in head[1:] if line)

        """

    // MARK: - OAuth 1.0a

    /// The server side of oauthlib, with its defaults for the lengths of nonces.
    private static let oauthlib = """
        import base64, hashlib
        from oauthlib.oauth1 import RequestValidator, SignatureOnlyEndpoint
        secret, token, token_secret, method_name, key = sys.argv[3:8]
        class Validator(RequestValidator):
            enforce_ssl = False
            allowed_signature_methods = (method_name,)
            client_key_length = (2, 30)
            access_token_length = (1, 30)
            safe_characters = RequestValidator.safe_characters
            def get_client_secret(self, client_key, request): return secret
            def get_access_token_secret(self, client_key, token, request): return token_secret
            def get_rsa_key(self, client_key, request): return open(key).read()
            def validate_client_key(self, client_key, request): return client_key == 'consumer'
            def validate_timestamp_and_nonce(self, client_key, timestamp, nonce, request, **more): return True
            dummy_client = 'dummy'
        endpoint = SignatureOnlyEndpoint(Validator())
        right, request = endpoint.validate_request(origin + target, method, body.decode() or None, fields)
        if not right: sys.exit('refused %s' % request)
        if request.resource_owner_key and request.resource_owner_key != token: sys.exit('token')
        form = fields.get('Content-Type', '').startswith('application/x-www-form-urlencoded')
        wanted = {'HMAC-SHA1': hashlib.sha1, 'RSA-SHA1': hashlib.sha1, 'HMAC-SHA256': hashlib.sha256}.get(method_name)
        if body and not form and wanted:
            import re
            from urllib.parse import unquote
            hashed = re.search('oauth_body_hash="([^"]*)"', fields['Authorization'])
            if not hashed: sys.exit('no body hash')
            if base64.b64decode(unquote(hashed.group(1))) != wanted(body).digest(): sys.exit('body hash')
        print('right')
        """

    @Test(arguments: ["hmac-sha1", "hmac-sha256", "rsa-sha1", "plaintext"])
    func `oauthlib accepts each request, forms and other content included`(method: String) throws {
        let folder = Scratch.folder("oauth1")
        let (key, publicKey) = (folder + "/key.pem", folder + "/public.pem")
        #expect(try Finished.run("openssl", ["genrsa", "-out", key, "2048"]).succeeded)
        #expect(try Finished.run("openssl", ["rsa", "-in", key, "-pubout", "-out", publicKey]).succeeded)
        let isRSA = method == "rsa-sha1"
        let proof = isRSA ? "key \(key); access-token tok" : "consumer-secret file @/cs"
        let token = "access-token tok; token-secret file @/ts"
        let isOfClient = method == "plaintext"
        try signing("oauth1 \(method); consumer-key consumer; \(proof); \(isRSA || isOfClient ? "" : token); realm R") {
            proxy, origin throws in
            let targets = ["/", "/a%20b/%C3%A9?x=1&x=0&y=%2B+z&empty", "/path;p=1?q=~!*'()"]
            for target in targets { #expect(try proxy.get(origin.url(target)).status == 200) }
            #expect(try proxy.get(origin.url("/form?x=1"), "-d", "b=2&a=%20&a=+&c").text == "received 15")
            let json = ["-H", "Content-Type: application/json", "-d", "{\"a\":1}"]
            #expect(try Curl.fetch(origin.url("/json"), ["-x", proxy.address] + json).status == 200)
            let file = try Payload.file(bytes: 300_000)
            let put = [
                "-x", proxy.address, "-T", file, "-H", "Transfer-Encoding: chunked", "-H", "Content-Type: text/plain",
            ]
            #expect(try Curl.fetch(origin.url("/put"), put).status == 200)
            let requests = origin.messages
            #expect(requests.count == 6)
            try expectRight(
                origin, requests.dropLast(), by: Self.oauthlib,
                [Self.consumerSecret, "tok", isOfClient ? "" : Self.tokenSecret, method.uppercased(), publicKey])
            let nonces = requests.compactMap { $0["Authorization"]?.firstMatch(of: /oauth_nonce="([^"]*)"/)?.1 }
            #expect(Set(nonces).count == 6)
            #expect(try proxy.records(atLeast: 6).last?["scheme"] == "oauth1")
        }
    }

    // MARK: - HTTP Message Signatures

    private static let messageSignatures = """
        import base64, hashlib
        from cryptography.hazmat.primitives.serialization import load_pem_public_key, Encoding, PublicFormat
        from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
        from http_message_signatures.structures import CaseInsensitiveDict
        public, wanted = load_pem_public_key(open(sys.argv[3], 'rb').read()), sys.argv[4].split()
        raw = base64.urlsafe_b64encode(public.public_bytes(Encoding.Raw, PublicFormat.Raw)).decode().rstrip('=')
        jwk = '{"crv":"Ed25519","kty":"OKP","x":"%s"}' % raw
        thumbprint = base64.urlsafe_b64encode(hashlib.sha256(jwk.encode()).digest()).decode().rstrip('=')
        class Resolver(HTTPSignatureKeyResolver):
            def resolve_public_key(self, key_id):
                if key_id != thumbprint: sys.exit('keyid ' + key_id)
                return public
        class Request: pass
        request = Request()
        request.method, request.url, request.headers = method, origin + target, CaseInsensitiveDict(fields)
        verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Resolver())
        [result] = verifier.verify(request, expect_tag='web-bot-auth')
        covered = [name for name in result.covered_components if name != '"@signature-params"']
        if covered != wanted: sys.exit('covered %s' % covered)
        digest = fields.get('Content-Digest')
        if digest and digest != 'sha-256=:%s:' % base64.b64encode(hashlib.sha256(body).digest()).decode(): sys.exit(digest)
        if result.parameters['expires'] - result.parameters['created'] != 300: sys.exit('expires')
        print('right')
        """

    private func bot(modifiers: String, _ body: (AttacheProcess, RecordingOrigin, String) throws -> Void) throws {
        let folder = Scratch.folder("bot")
        let (key, publicKey) = (folder + "/bot.pem", folder + "/public.pem")
        #expect(try Finished.run("openssl", ["genpkey", "-algorithm", "ed25519", "-out", key]).succeeded)
        #expect(try Finished.run("openssl", ["pkey", "-in", key, "-pubout", "-out", publicKey]).succeeded)
        try signing("sign key \(key); agent https://bot.example.com", modifiers: modifiers) { proxy, origin throws in
            try body(proxy, origin, publicKey)
        }
    }

    @Test func `http-message-signatures verifies each request`() throws {
        try bot(modifiers: "preempt always") { proxy, origin, key throws in
            for target in ["/", "/a?b=c"] { #expect(try proxy.get(origin.url(target)).status == 200) }
            #expect(try proxy.get(origin.url("/post"), "-d", "content").status == 200)
            #expect(origin.messages.count == 3)
            let components = #""@authority" "signature-agent";key="sig""#
            try expectRight(origin, origin.messages, by: Self.messageSignatures, [key, components])
            #expect(Set(origin.messages.compactMap { $0["Signature-Input"] }).count == 3)
            let record = try #require(try proxy.records(atLeast: 3).last)
            #expect(record["scheme"] == "message-signature")
            #expect(record["credential"] == "signer")
        }
    }

    @Test func `http-message-signatures verifies what a server has asked for`() throws {
        try bot(modifiers: "") { proxy, origin, key throws in
            #expect(try proxy.get(origin.url("/ask/me?x"), "-d", "content").text == "received 7")
            #expect(try proxy.get(origin.url("/free")).status == 200)
            let messages = origin.messages
            try #require(messages.count == 3)
            #expect(messages[0]["Signature"] == nil)
            #expect(messages[2]["Signature"] == nil)
            let components =
                #""@authority" "@method" "@target-uri" "content-digest" "signature-agent";key="sig1""#
            try expectRight(origin, [messages[1]], by: Self.messageSignatures, [key, components])
        }
    }
}
