import Foundation

/// A real lighttpd as origin: Digest with SHA-256, with two algorithms at once, with a hashed user name.
struct LighttpdServer: Sendable {
    private static let started = Result { try LighttpdServer() }

    static func shared() throws -> LighttpdServer { try started.get() }

    let port: UInt16
    private let child: Subprocess

    private init() throws {
        let folder = Scratch.folder("lighttpd")
        port = FreePort.take()
        for name in ["md5", "sha256", "both", "userhash"] {
            mkdir("\(folder)/\(name)", 0o755)
            try Scratch.write("this is \(name)\n", to: "\(folder)/\(name)/index.html")
        }
        let hash = { (algorithm: String, realm: String) in
            try Hash.hex(algorithm, "\(Account.user):\(realm):\(Account.password)")
        }
        try Scratch.write("\(Account.user):md5-realm:\(hash("md5", "md5-realm"))\n", to: folder + "/md5.users")
        try Scratch.write("\(Account.user):sha-realm:\(hash("sha256", "sha-realm"))\n", to: folder + "/sha256.users")
        let name = try Hash.hex("sha256", "\(Account.user):hash-realm")
        try Scratch.write(
            "\(Account.user):hash-realm:\(hash("sha256", "hash-realm")):\(name)\n", to: folder + "/userhash.users")
        try Scratch.write("\(Account.user):\(Account.password)\n", to: folder + "/plain.users")

        let guarded = { (name: String, backend: String, parameters: String) in
            """
            $HTTP["url"] =~ "^/\(name)/" {
                \(backend)
                auth.require = ( "/\(name)/" => ("method" => "digest", \(parameters), "require" => "valid-user") )
            }

            """
        }
        let users = { (name: String) in
            "auth.backend = \"htdigest\"\nauth.backend.htdigest.userfile = \"\(folder)/\(name).users\""
        }
        let plain = "auth.backend = \"plain\"\nauth.backend.plain.userfile = \"\(folder)/plain.users\""
        let hashed = "\"algorithm\" => \"SHA-256\", \"userhash\" => \"enable\", \"realm\" => \"hash-realm\""
        let text = """
            server.modules = ( "mod_auth", "mod_authn_file" )
            server.bind = "127.0.0.1"
            server.port = \(port)
            server.document-root = "\(folder)"
            server.errorlog = "\(folder)/error.log"
            index-file.names = ( "index.html" )

            """
            + guarded("md5", users("md5"), #""algorithm" => "MD5", "realm" => "md5-realm""#)
            + guarded("sha256", users("sha256"), #""algorithm" => "SHA-256", "realm" => "sha-realm""#)
            + guarded("both", plain, #""algorithm" => "SHA-256|MD5", "realm" => "both-realm""#)
            + guarded("userhash", users("userhash"), hashed)
        try Scratch.write(text, to: folder + "/lighttpd.conf")
        child = try Subprocess("lighttpd", ["-D", "-f", folder + "/lighttpd.conf"], directory: folder)
        try Socket.awaitListener(on: port, of: child)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}
