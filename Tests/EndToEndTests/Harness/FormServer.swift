import Foundation
import TestSupport

/// A real Apache httpd with mod_auth_form: its sessions live in a cookie and end after some seconds.
struct FormServer: Sendable {
    private static let started = Result { try FormServer() }

    static func shared() throws -> FormServer { try started.get() }

    /// Seconds that a session lasts without a request.
    static let lifetime = 2

    let port: UInt16
    let securePort: UInt16
    let folder: String
    private let child: Subprocess

    private init() throws {
        folder = Scratch.folder("forms")
        (port, securePort) = (FreePort.take(), FreePort.take())
        for name in ["www", "www/redirect", "www/inline", "www/home", "run", "uploads"] {
            mkdir("\(folder)/\(name)", 0o755)
        }
        for name in ["run", "uploads"] { chmod("\(folder)/\(name)", 0o777) }
        let made = try Finished.run("htpasswd", ["-bc", folder + "/users", Account.user, Account.password])
        guard made.succeeded else { throw Spawn.Failure(description: made.description) }
        let page = """
            <html><body><form method="POST" action="/dologin.html">
            <input type="text" name="httpd_username"><input type="password" name="httpd_password">
            <input type="hidden" name="httpd_location" value="/home/"><input type="submit" name="login" value="Login">
            </form></body></html>
            """
        try Scratch.write(page, to: folder + "/www/login.html")
        try Scratch.write("welcome\n", to: folder + "/www/home/index.html")
        for name in ["redirect", "inline"] {
            let echo = "#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n%s\\n' \"$REMOTE_USER $HTTP_COOKIE\"\n"
            try Scratch.write(echo, to: "\(folder)/www/\(name)/who.cgi", mode: 0o755)
            try Scratch.write(ApacheConfiguration.upload, to: "\(folder)/www/\(name)/upload.cgi", mode: 0o755)
        }
        let identity = try ServerIdentity(
            Hierarchy.shared().issuing.issue(CertificateTerms(host: ApacheServer.secureHost)))
        try Scratch.write(Self.configuration(folder, port, securePort, identity), to: folder + "/httpd.conf")
        child = try Subprocess("apache2", ["-f", folder + "/httpd.conf", "-DFOREGROUND"], directory: folder)
        do {
            try Socket.awaitListener(on: port, of: child)
        } catch {
            throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/error.log"))")
        }
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// `method target status` of each request to a target, oldest first.
    func entries(_ target: String, from user: String) -> [String] {
        ApacheLog.lines(in: folder).map(String.init)
            .filter { $0.contains(target) && $0.hasSuffix("\t" + user) }
    }

    /// Waits until a session has ended that lasts at least as long as the one of this cookie, which nothing but Apache's own
    /// clock brings about: each response has a cookie with the new end, and the one of the session's user is unknown here.
    func awaitEnd(ofSession cookie: String, at path: String) throws -> Bool {
        let get = { (cookie: String) in try Curl.fetch(url(path), ["-H", "Cookie: \(cookie)"]) }
        guard let later = try get(cookie)["Set-Cookie"]?.prefix(while: { $0 != ";" }) else { return false }
        return try Wait.until { try get(String(later)).status != 200 }
    }

    private static func configuration(
        _ folder: String, _ port: UInt16, _ securePort: UInt16, _ identity: ServerIdentity
    ) -> String {
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_form", "session",
            "session_cookie", "request", "env", "mime", "dir", "cgid", "log_config", "unixd", "ssl",
        ].filter { access("/usr/lib/apache2/modules/mod_\($0).so", R_OK) == 0 }
        let form = """
            AuthType form
            AuthName "form realm"
            AuthFormProvider file
            AuthUserFile \(folder)/users
            Session On
            SessionMaxAge \(lifetime)
            SessionCookieName session path=/
            """
        return """
            ServerRoot \(folder)
            DefaultRuntimeDir \(folder)/run
            PidFile run/httpd.pid
            ServerName localhost
            Listen 127.0.0.1:\(port)
            Listen 127.0.0.1:\(securePort)
            \(getuid() == 0 ? "User www-data\nGroup www-data" : "")
            \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
            ErrorLog error.log
            LogLevel warn
            LogFormat "\(ApacheLog.began)%m\\t%U\\t%>s\\t%{User-Agent}i" attache
            CustomLog access.log attache
            Mutex file:\(folder)/run
            ScriptSock \(folder)/run/cgid.sock
            StartServers 1
            ServerLimit 2
            ThreadsPerChild 32
            MaxRequestWorkers 64
            KeepAlive On
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
            <Location /redirect/>
                \(form)
                AuthFormLoginRequiredLocation "/login.html?req=%{REQUEST_URI}"
                Require valid-user
            </Location>
            <Location /inline/>
                \(form)
                ErrorDocument 401 /login.html
                Require valid-user
            </Location>
            <Location /dologin.html>
                \(form)
                SetHandler form-login-handler
                AuthFormLoginRequiredLocation "/login.html?failed"
                AuthFormLoginSuccessLocation "/home/"
            </Location>
            <VirtualHost 127.0.0.1:\(securePort)>
                SSLEngine on
                SSLCertificateFile \(identity.chain)
                SSLCertificateKeyFile \(identity.leaf.key)
            </VirtualHost>

            """
    }
}
