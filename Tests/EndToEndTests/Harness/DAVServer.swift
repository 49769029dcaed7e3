import Foundation
import TestSupport
import Testing

/// A real Apache httpd with mod_dav, as its manual sets it up: all users of the file may read, and one may write. It answers
/// `401` to a user who may not do something, as it does to a wrong password.
struct DAVServer: Sendable {
    /// How a folder asks for a login.
    enum Scheme: String, CaseIterable {
        case basic, digest
    }

    /// A folder, and whether the proxy sends the password before it is asked for.
    struct Login: Sendable, CustomTestStringConvertible {
        let scheme: Scheme
        var isPreemptive = false

        static let all = [Login(scheme: .basic), Login(scheme: .basic, isPreemptive: true), Login(scheme: .digest)]

        var testDescription: String { "\(scheme)\(isPreemptive ? ", preempt always" : "")" }
    }

    private static let started = Result { try DAVServer() }

    static func shared() throws -> DAVServer { try started.get() }

    /// The number of files in each folder: `0.txt`, `1.txt` and so on.
    static let files = 12
    /// The user who may write, and read what is below `private/`.
    private static let writer = "writer"

    let port: UInt16
    private let child: Subprocess

    private init() throws {
        let folder = Scratch.folder("dav")
        port = FreePort.take()
        for name in ["www", "run", "locks"] { mkdir("\(folder)/\(name)", 0o755) }
        for scheme in Scheme.allCases {
            let documents = "\(folder)/www/\(scheme)"
            mkdir(documents, 0o755)
            for number in 0..<Self.files { try Scratch.write("page \(number)\n", to: "\(documents)/\(number).txt") }
        }
        let users = [Account.user, Self.writer]
        for (index, user) in users.enumerated() {
            let options = index == 0 ? "-bc" : "-b"
            let made = try Finished.run("htpasswd", [options, folder + "/basic", user, Account.password])
            guard made.succeeded else { throw Spawn.Failure(description: made.description) }
        }
        let digests = try users.map { user in
            "\(user):dav:\(try Hash.hex("md5", "\(user):dav:\(Account.password)"))\n"
        }
        try Scratch.write(digests.joined(), to: folder + "/digest")
        try Scratch.write(Self.configuration(folder, port), to: folder + "/httpd.conf")
        if getuid() == 0 {
            let names = ["www", "run", "locks"].map { "\(folder)/\($0)" }
            _ = try Finished.run("chown", ["-R", "www-data:www-data"] + names)
        }
        child = try Subprocess("apache2", ["-f", folder + "/httpd.conf", "-DFOREGROUND"], directory: folder)
        do {
            try Socket.awaitListener(on: port, of: child)
        } catch {
            throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/error.log"))")
        }
    }

    /// - Parameter path: below the scheme's folder.
    func url(_ scheme: Scheme, _ path: String) -> String { "http://127.0.0.1:\(port)/\(scheme)/\(path)" }

    /// Runs a proxy that logs in here, with a function that makes the URL of a path below the folder.
    static func reached(
        by login: Login, _ body: (AttacheProcess, @escaping @Sendable (String) -> String) throws -> Void
    ) throws {
        let server = try shared()
        let modifiers = login.isPreemptive ? "method basic; preempt always" : ""
        try AttacheProcess.answering(server.port, modifiers: modifiers) { proxy throws in
            try body(proxy) { server.url(login.scheme, $0) }
        }
    }

    private static func location(_ scheme: Scheme, _ folder: String) -> String {
        let login =
            switch scheme {
            case .basic: "AuthType Basic\nAuthBasicProvider file\nAuthUserFile \(folder)/basic"
            case .digest: "AuthType Digest\nAuthDigestProvider file\nAuthUserFile \(folder)/digest"
            }
        return """
            <Location /\(scheme)/>
                Dav On
                \(login)
                AuthName "dav"
                <Limit GET HEAD OPTIONS PROPFIND>
                    Require valid-user
                </Limit>
                <LimitExcept GET HEAD OPTIONS PROPFIND>
                    Require user \(writer)
                </LimitExcept>
            </Location>
            <Location /\(scheme)/private/>
                Require user \(writer)
            </Location>
            """
    }

    private static func configuration(_ folder: String, _ port: UInt16) -> String {
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "auth_digest", "dav",
            "dav_fs", "mime", "unixd",
        ].filter { access("/usr/lib/apache2/modules/mod_\($0).so", R_OK) == 0 }
        let load = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        return """
            ServerRoot \(folder)
            DefaultRuntimeDir \(folder)/run
            PidFile run/httpd.pid
            ServerName localhost
            Listen 127.0.0.1:\(port)
            \(getuid() == 0 ? "User www-data\nGroup www-data" : "")
            \(load.joined(separator: "\n"))
            ErrorLog error.log
            LogLevel crit
            Mutex file:\(folder)/run
            DavLockDB \(folder)/locks/db
            StartServers 1
            ServerLimit 4
            ThreadsPerChild 64
            MaxRequestWorkers 256
            KeepAlive On
            KeepAliveTimeout 30
            MaxKeepAliveRequests 0
            TypesConfig /dev/null
            AddType text/plain .txt
            DocumentRoot www
            <Directory \(folder)/www>
                Require all granted
            </Directory>
            \(Scheme.allCases.map { location($0, folder) }.joined(separator: "\n"))

            """
    }
}
