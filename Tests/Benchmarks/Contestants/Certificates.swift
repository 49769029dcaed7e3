/// Certificates of one run, made by `openssl`: a root, below it a server at 127.0.0.1, which is also localhost, and an
/// authority that issues for tunnels that are looked into. All with keys on P-256.
struct Certificates {
    let root: String
    /// The server's certificate.
    let chain: String
    let key: String
    /// Certificate and key in one file, as HAProxy wants them.
    let bundle: String
    let authority: String
    let authorityKey: String
    /// The CA's certificate and key in one file, as squid requires.
    let authorityBundle: String

    init(in workspace: Workspace) throws(BenchError) {
        let path = { (name: String) in "\(workspace.path)/\(name)" }
        (root, chain, key) = (path("root.pem"), path("server.pem"), path("server.key"))
        (authority, authorityKey) = (path("authority.pem"), path("authority.key"))
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try Child.run(
            ["openssl", "req", "-x509", "-subj", "/CN=Bench Root", "-days", "3", "-keyout", path("root.key")] + key
                + ["-addext", "keyUsage=critical,keyCertSign,cRLSign", "-out", root])
        let issue = { (name: String, extensions: String) throws(BenchError) in
            let file = try workspace.write(extensions, to: "\(name).ext")
            try Child.run(
                ["openssl", "req", "-new", "-subj", "/CN=Bench \(name)", "-keyout", path("\(name).key")] + key
                    + ["-out", path("\(name).csr")])
            try Child.run([
                "openssl", "x509", "-req", "-in", path("\(name).csr"), "-CA", path("root.pem"), "-CAkey",
                path("root.key"), "-CAcreateserial", "-days", "3", "-extfile", file, "-out", path("\(name).pem"),
            ])
        }
        try issue(
            "server",
            """
            basicConstraints = critical,CA:FALSE
            keyUsage = critical,digitalSignature
            extendedKeyUsage = serverAuth
            subjectAltName = IP:127.0.0.1,DNS:localhost
            subjectKeyIdentifier = hash
            authorityKeyIdentifier = keyid

            """)
        try issue(
            "authority",
            """
            basicConstraints = critical,CA:TRUE,pathlen:0
            keyUsage = critical,keyCertSign,cRLSign
            subjectKeyIdentifier = hash
            authorityKeyIdentifier = keyid

            """)
        bundle = try Self.join(["server.pem", "server.key"], as: "server.bundle", in: workspace)
        authorityBundle = try Self.join(["authority.pem", "authority.key"], as: "authority.bundle", in: workspace)
    }

    private static func join(
        _ names: [String], as name: String, in workspace: Workspace
    ) throws(BenchError) -> String {
        try workspace.write(names.map { Workspace.text("\(workspace.path)/\($0)") ?? "" }.joined(), to: name)
    }
}
