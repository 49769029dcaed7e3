import Foundation
import TestSupport

/// A real Apache httpd with mod_auth_gssapi as a service of a Kerberos realm, at `localhost`.
final class KerberosServer: Sendable {
    private static let started = Result { try KerberosServer(in: .shared()) }

    /// A server in the realm whose KDC stays as it is.
    static func shared() throws -> KerberosServer { try started.get() }

    /// A line of the access log.
    struct Entry {
        let connection: String
        let status: Int
        let user: String
        /// How the request's `Authorization` began, `-` without one.
        let scheme: String
    }

    let realm: KerberosRealm
    let port: UInt16
    let folder: String
    private let child: Subprocess

    /// - Parameter isSkewed: whether no ticket's time suits it.
    init(in realm: KerberosRealm, isSkewed: Bool = false) throws {
        self.realm = realm
        folder = Scratch.folder("kerberos")
        port = FreePort.take()
        for name in ["www", "run", "uploads", "delegated"] { mkdir("\(folder)/\(name)", 0o755) }
        for name in ["run", "uploads", "delegated"] { chmod("\(folder)/\(name)", 0o777) }
        for name in ["open", "request", "connection", "bob", "three", "either", "delegation"] {
            mkdir("\(folder)/www/\(name)", 0o755)
            try Scratch.write("this is \(name)\n", to: "\(folder)/www/\(name)/index.html")
            try Scratch.write(ApacheConfiguration.upload, to: "\(folder)/www/\(name)/upload.cgi", mode: 0o755)
        }
        let line = try Hash.hex("md5", "\(Account.user):three-realm:\(Account.password)")
        try Scratch.write("\(Account.user):three-realm:\(line)\n", to: folder + "/digest")
        let made = try Finished.run("htpasswd", ["-bc", folder + "/basic", Account.user, Account.password])
        guard made.succeeded else { throw Spawn.Failure(description: made.description) }
        try Scratch.write(Self.configuration(folder, port, realm), to: folder + "/httpd.conf")
        child = try Subprocess(
            "apache2", ["-f", folder + "/httpd.conf", "-DFOREGROUND"],
            environment: realm.environment(isSkewed: isSkewed).merging(["KRB5RCACHEDIR": folder + "/run"]) { $1 },
            directory: folder)
        do {
            try Socket.awaitListener(on: port, of: child)
        } catch {
            throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/error.log"))")
        }
    }

    /// The output of `klist` about the tickets that the user has delegated at `/delegation/`; nil if none.
    func delegated(by user: String) throws -> String? {
        let path = "\(folder)/delegated/\(realm.principal(user))"
        guard access(path, R_OK) == 0 else { return nil }
        return try Finished.run("klist", ["-f", "-c", path], environment: realm.environment).output
    }

    func url(_ path: String) -> String { "http://localhost:\(port)\(path)" }

    /// The entries of requests whose target contains the mark, oldest first.
    func entries(marked mark: String, atLeast count: Int = 1) -> [Entry] {
        var found: [Entry] = []
        _ = Wait.until {
            found = ApacheLog.lines(in: folder).filter { $0.contains(mark) }
                .map { line in
                    let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
                    return Entry(
                        connection: parts[0], status: Int(parts[1]) ?? 0, user: parts[3],
                        scheme: String(parts[4].prefix { $0 != " " }))
                }
            return found.count >= count
        }
        return found
    }

    private static func login(_ more: String) -> String {
        """
        AuthType GSSAPI
        AuthName "tickets"
        GssapiAllowedMech krb5
        \(more)
        """
    }

    private static func configuration(_ folder: String, _ port: UInt16, _ realm: KerberosRealm) -> String {
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "auth_digest",
            "auth_gssapi", "headers", "env", "mime", "dir", "cgid", "log_config", "unixd",
        ].filter { access("/usr/lib/apache2/modules/mod_\($0).so", R_OK) == 0 }
        let load = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        let store = "GssapiCredStore keytab:\(realm.serviceKeytab)"
        return """
            ServerRoot \(folder)
            DefaultRuntimeDir \(folder)/run
            PidFile run/httpd.pid
            ServerName localhost
            Listen 127.0.0.1:\(port)
            \(getuid() == 0 ? "User www-data\nGroup www-data" : "")
            \(load.joined(separator: "\n"))
            ErrorLog error.log
            LogLevel warn auth_gssapi:info
            LogFormat "\(ApacheLog.began)%{c}L\\t%>s\\t%m\\t%u\\t%{Authorization}i\\t%U%q" attache
            CustomLog access.log attache
            Mutex file:\(folder)/run
            ScriptSock \(folder)/run/cgid.sock
            StartServers 1
            ServerLimit 4
            ThreadsPerChild 64
            MaxRequestWorkers 256
            LimitRequestFieldSize 65536
            KeepAlive On
            KeepAliveTimeout 30
            MaxKeepAliveRequests 0
            TypesConfig /dev/null
            AddType text/html .html
            DocumentRoot www
            DirectoryIndex index.html
            SetEnv UPLOADS \(folder)/uploads
            <Directory \(folder)/www>
                Options +ExecCGI
                AddHandler cgi-script .cgi
                Require all granted
            </Directory>
            <Location /request/>
                \(login("\(store)\nRequire valid-user"))
            </Location>
            <Location /connection/>
                \(login("\(store)\nGssapiConnectionBound On\nRequire valid-user"))
            </Location>
            <Location /delegation/>
                \(login("\(store)\nGssapiDelegCcacheDir \(folder)/delegated\nRequire valid-user"))
            </Location>
            <Location /bob/>
                \(login("\(store)\nRequire user bob@\(KerberosRealm.name)"))
            </Location>
            <Location /three/>
                AuthType Digest
                AuthName "three-realm"
                AuthDigestProvider file
                AuthUserFile \(folder)/digest
                Require valid-user
                Header always add WWW-Authenticate "Negotiate" "expr=%{REQUEST_STATUS} == 401"
                Header always add WWW-Authenticate "Basic realm=\\"three-realm\\"" "expr=%{REQUEST_STATUS} == 401"
            </Location>
            <Location /either/>
                AuthType Basic
                AuthName "either-realm"
                AuthBasicProvider file
                AuthUserFile \(folder)/basic
                Require valid-user
                Header always add WWW-Authenticate "Negotiate" "expr=%{REQUEST_STATUS} == 401"
            </Location>

            """
    }
}
