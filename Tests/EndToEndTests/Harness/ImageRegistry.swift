import Foundation

/// Debian's docker-registry behind TLS, with a token server in Python that believes one user.
final class ImageRegistry {
    static let host = "registry.example.test"
    static let user = "builder"
    static let isInstalled = ["docker-registry", "skopeo"].allSatisfy { (try? Spawn.executable($0)) != nil }

    private let folder = Scratch.folder("registry")
    private let port = FreePort.take()
    private let tokenPort = FreePort.take()
    private var children: [Subprocess] = []

    /// - Parameters:
    ///   - lifetime: of a token, in seconds.
    ///   - password: the user's.
    ///   - asksForPassword: whether the registry asks for the password itself, by Basic, and has no token server.
    init(lifetime: Int = 300, password: String = Account.password, asksForPassword: Bool = false) throws {
        let server = try Hierarchy.shared().issuing.issue(CertificateTerms(host: Self.host))
        let signer = try CertificateIssuer.selfSigned(CertificateTerms(host: "tokens.example.test"))
        let users = try Finished.run("htpasswd", ["-nbB", Self.user, password])
        try Scratch.write(users.output, to: folder + "/users")
        let authentication =
            asksForPassword
            ? "htpasswd: { realm: images, path: \(folder)/users }"
            : "token: { realm: \"\(tokenServer)\", service: images, issuer: tests, rootcertbundle: \(signer.certificate) }"
        try Scratch.write(
            """
            version: 0.1
            storage: { filesystem: { rootdirectory: \(folder)/data }, delete: { enabled: true } }
            http: { addr: "127.0.0.1:\(port)", tls: { certificate: \(try server.chain()), key: \(server.key) } }
            auth:
              \(authentication)

            """, to: folder + "/registry.yml")
        try Scratch.write(Self.tokens, to: folder + "/tokens.py")
        let arguments = ["\(tokenPort)", signer.key, signer.certificate, "\(lifetime)", Self.user, password]
        children.append(
            try Subprocess(
                "python3", ["tokens.py"] + arguments, environment: PythonPackages.environment(), directory: folder))
        children.append(try Subprocess("docker-registry", ["serve", "registry.yml"], directory: folder))
        try Socket.awaitListener(on: tokenPort, of: children[0])
        try Socket.awaitListener(on: port, of: children[1])
    }

    deinit {
        for child in children { _ = child.kill() }
        FreePort.release(port)
        FreePort.release(tokenPort)
    }

    var authority: String { "\(Self.host):\(port)" }
    var tokenServer: String { "http://127.0.0.1:\(tokenPort)/token" }

    /// The requests to the token server: the user and the scopes of each.
    var asked: [Substring] { Scratch.read(folder + "/asked").split(separator: "\n") }

    /// A folder in the form of an OCI image layout, with an image of one layer.
    func image() throws -> String {
        let path = "\(folder)/image-\(UUID().uuidString.prefix(8))"
        let run = try Finished.run("python3", ["-c", Self.layout, path])
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return "oci:\(path):1"
    }

    /// Runs a tool of containers that knows the proxy and its certificate, but no login.
    func run(_ tool: String, _ arguments: [String], through proxy: AttacheProcess) throws -> Finished {
        try Scratch.write(#"{"default":[{"type":"insecureAcceptAnything"}]}"#, to: folder + "/policy.json")
        let policy =
            tool == "skopeo"
            ? [] : ["--root", folder + "/root", "--runroot", folder + "/run", "--storage-driver", "vfs"]
        let options =
            tool == "skopeo"
            ? ["--policy", folder + "/policy.json"] + arguments
            : policy + arguments.prefix(1) + ["--signature-policy", folder + "/policy.json"] + arguments.dropFirst()
        return try Finished.run(
            tool, options,
            environment: ["HTTPS_PROXY": proxy.address, "SSL_CERT_FILE": proxy.exportedAuthority()],
            directory: folder, seconds: 120)
    }

    private static let tokens = """
        import base64, http.server, json, sys, threading, time, urllib.parse, jwt
        port, key, certificate, lifetime, name, password = sys.argv[1:]
        key = open(key).read()
        certificate = "".join(open(certificate).read().split("-----")[2].split())
        lock = threading.Lock()

        class Tokens(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                field = self.headers.get("Authorization", "Basic ").split(" ")[1]
                user, _, secret = base64.b64decode(field).decode().partition(":")
                with lock, open("asked", "a") as asked:
                    print(user or "-", " ".join(query.get("scope", [])), file=asked)
                if user and (user, secret) != (name, password):
                    return self.answer(401, {"errors": [{"code": "UNAUTHORIZED", "message": "wrong password"}]})
                access = []
                for scope in query.get("scope", []):
                    kind, resource, actions = scope.split(":")
                    actions = [action for action in actions.split(",") if user or action == "pull"]
                    access.append({"type": kind, "name": resource, "actions": actions})
                now = int(time.time())
                claims = {"iss": "tests", "sub": user, "aud": query["service"][0], "nbf": now - 5, "iat": now,
                          "exp": now + int(lifetime), "jti": str(time.time_ns()), "access": access}
                token = jwt.encode(claims, key, algorithm="ES256", headers={"x5c": [certificate]})
                self.answer(200, {"token": token, "expires_in": int(lifetime)})

            def answer(self, status, content):
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Tokens).serve_forever()
        """

    private static let layout = """
        import gzip, hashlib, io, json, os, sys, tarfile
        folder = sys.argv[1]
        os.makedirs(folder + "/blobs/sha256")
        def put(content):
            name = hashlib.sha256(content).hexdigest()
            open(folder + "/blobs/sha256/" + name, "wb").write(content)
            return {"digest": "sha256:" + name, "size": len(content)}
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as tar:
            entry = tarfile.TarInfo("data")
            entry.size = 300000
            tar.addfile(entry, io.BytesIO(os.urandom(entry.size)))
        raw = raw.getvalue()
        kind = "application/vnd.oci.image."
        layer = {"mediaType": kind + "layer.v1.tar+gzip", **put(gzip.compress(raw))}
        config = put(json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {
            "type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(raw).hexdigest()]}}).encode())
        manifest = put(json.dumps({"schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "layers": [layer],
            "config": {"mediaType": kind + "config.v1+json", **config}}).encode())
        json.dump({"schemaVersion": 2, "manifests": [{"mediaType": kind + "manifest.v1+json", **manifest,
            "annotations": {"org.opencontainers.image.ref.name": "1"}}]}, open(folder + "/index.json", "w"))
        open(folder + "/oci-layout", "w").write('{"imageLayoutVersion":"1.0.0"}')
        """
}
