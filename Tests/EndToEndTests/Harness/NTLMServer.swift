import Foundation
import TestSupport

/// A real Apache httpd with mod_auth_gssapi and gss-ntlmssp: every connection logs in by NTLM. The response says who it
/// takes the request to be from.
struct NTLMServer: Sendable {
    private static let started = Result { try NTLMServer() }

    static func shared() throws -> NTLMServer { try started.get() }

    /// The response field with the user's name.
    static let userField = "X-Remote-User"

    let port: UInt16
    let folder: String
    private let child: Subprocess

    private init() throws {
        folder = Scratch.folder("ntlm")
        port = FreePort.take()
        for name in ["www", "www/open", "www/ntlm", "run", "uploads"] { mkdir("\(folder)/\(name)", 0o755) }
        for name in ["run", "uploads"] { chmod("\(folder)/\(name)", 0o777) }
        let users = Account.ntlmUsers.map { "\(Account.domain):\($0):\(Account.ntlmPasswords[$0] ?? "")\n" }
        try Scratch.write(users.joined(), to: folder + "/users")
        for name in ["open", "ntlm"] {
            try Scratch.write("this is \(name)\n", to: "\(folder)/www/\(name)/index.html")
            try Scratch.write(ApacheConfiguration.upload, to: "\(folder)/www/\(name)/upload.cgi", mode: 0o755)
        }
        try Scratch.write(Self.shell, to: folder + "/www/ntlm/wsman.cgi", mode: 0o755)
        try Scratch.write(Self.configuration(folder, port), to: folder + "/httpd.conf")
        child = try Subprocess(
            "apache2", ["-f", folder + "/httpd.conf", "-DFOREGROUND"],
            environment: [
                "NTLM_USER_FILE": folder + "/users", "NETBIOS_COMPUTER_NAME": "NTSRV",
                "NETBIOS_DOMAIN_NAME": Account.domain,
            ],
            directory: folder)
        do {
            try Socket.awaitListener(on: port, of: child)
        } catch {
            throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/error.log"))")
        }
    }

    func url(_ path: String = "/ntlm/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// `connection status method` of each request whose target holds the mark, oldest first.
    func entries(marked mark: String, atLeast count: Int = 1) -> [String] {
        var found: [String] = []
        _ = Wait.until {
            found = ApacheLog.lines(in: folder).filter { $0.contains(mark) }
                .map { $0.split(separator: "\t").prefix(3).joined(separator: " ") }
            return found.count >= count
        }
        return found
    }

    /// The response of WS-Management to a request for a new shell, whose id is the user.
    private static let shell = """
        #!/bin/sh
        cat > /dev/null
        printf 'Content-Type: application/soap+xml;charset=UTF-8\\r\\n\\r\\n'
        printf '<s:Envelope xmlns:s="s"><s:Body><r:ResourceCreated xmlns:r="r"><r:Selector Name="ShellId">%s' "$REMOTE_USER"
        printf '</r:Selector></r:ResourceCreated></s:Body></s:Envelope>'
        """

    private static func configuration(_ folder: String, _ port: UInt16) -> String {
        let modules = [
            "mpm_event", "authn_core", "authz_core", "authz_user", "auth_gssapi", "headers", "env", "mime", "dir",
            "cgid", "log_config", "unixd",
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
            LogLevel warn
            LogFormat "\(ApacheLog.began)%{c}L\\t%>s\\t%m\\t%U%q\\t%u" attache
            CustomLog access.log attache
            Mutex file:\(folder)/run
            ScriptSock \(folder)/run/cgid.sock
            StartServers 1
            ServerLimit 4
            ThreadsPerChild 64
            MaxRequestWorkers 256
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
            <Location /ntlm/>
                AuthType GSSAPI
                AuthName "ntlm"
                GssapiAllowedMech ntlmssp
                GssapiConnectionBound On
                Require valid-user
                Header always set \(userField) "expr=%{REMOTE_USER}"
            </Location>

            """
    }
}
