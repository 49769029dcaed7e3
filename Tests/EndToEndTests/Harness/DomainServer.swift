import Foundation

/// A real Apache httpd whose users are those of a Samba domain, with three servers for each way to log in.
final class DomainServer: Sendable {
    /// A way to log in.
    enum Login: String, CaseIterable, Sendable {
        /// Basic; the password is shown to the domain's LDAP server.
        case basic
        /// NTLM, by winbindd.
        case ntlm
        /// Kerberos.
        case negotiate
    }

    static let count = 3

    let folder: String
    private let ports: [Login: [UInt16]]
    private let child: Subprocess

    init(in domain: SambaDomain) throws {
        folder = Scratch.folder("domain-server")
        for name in ["www", "run"] { mkdir("\(folder)/\(name)", 0o755) }
        chmod(folder + "/run", 0o777)
        try Scratch.write("this is a page\n", to: folder + "/www/index.html")
        var ports: [Login: [UInt16]] = [:]
        for login in Login.allCases { ports[login] = (0..<Self.count).map { _ in FreePort.take() } }
        self.ports = ports
        try Scratch.write(Self.configuration(folder, ports, domain), to: folder + "/httpd.conf")
        let start = "mount --bind \(domain.run) /run && exec apache2 -f \(folder)/httpd.conf -DFOREGROUND"
        child = try Subprocess(
            "unshare", ["-m", "sh", "-c", start],
            environment: domain.environment.merging(["KRB5RCACHEDIR": folder + "/run"]) { $1 }, directory: folder)
        for port in ports.values.joined() {
            do {
                try Socket.awaitListener(on: port, of: child)
            } catch {
                throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/error.log"))")
            }
        }
    }

    /// - Parameter server: 0 to 2; a larger number is taken modulo 3.
    func url(_ login: Login, _ server: Int, _ path: String) -> String {
        "http://localhost:\(ports(of: login)[server % Self.count])\(path)"
    }

    func ports(of login: Login) -> [UInt16] { ports[login] ?? [] }

    /// Connections that NTLM has logged in end after a few requests, so that there are logins at all.
    private static func host(_ port: UInt16, _ login: Login, _ domain: SambaDomain) -> String {
        let directives =
            switch login {
            case .basic:
                """
                AuthType Basic
                AuthBasicProvider ldap
                AuthLDAPURL "ldap://\(domain.address)/\(domain.users)?sAMAccountName"
                AuthLDAPBindDN \(SambaDomain.service.user)@\(SambaDomain.realm)
                AuthLDAPBindPassword \(SambaDomain.service.password)
                """
            case .ntlm: "AuthType GSSAPI\nGssapiAllowedMech ntlmssp\nGssapiConnectionBound On"
            case .negotiate:
                "AuthType GSSAPI\nGssapiAllowedMech krb5\nGssapiCredStore keytab:\(domain.serviceKeytab)"
            }
        return """
            Listen 127.0.0.1:\(port)
            <VirtualHost 127.0.0.1:\(port)>
                ServerName localhost
                MaxKeepAliveRequests \(login == .ntlm ? 12 : 0)
                <Location />
                    AuthName "domain"
                    \(directives)
                    Require valid-user
                </Location>
            </VirtualHost>
            """
    }

    private static func configuration(_ folder: String, _ ports: [Login: [UInt16]], _ domain: SambaDomain) -> String {
        let modules = [
            "mpm_event", "authn_core", "authz_core", "authz_user", "auth_basic", "ldap", "authnz_ldap", "auth_gssapi",
            "dir", "mime", "log_config", "unixd",
        ].filter { access("/usr/lib/apache2/modules/mod_\($0).so", R_OK) == 0 }
        let load = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        let hosts = ports.flatMap { login, ports in ports.map { host($0, login, domain) } }
        // Caches of passwords would hide what the domain says.
        return """
            ServerRoot \(folder)
            DefaultRuntimeDir \(folder)/run
            PidFile run/httpd.pid
            ServerName localhost
            User www-data
            Group www-data
            \(load.joined(separator: "\n"))
            LDAPCacheEntries 0
            LDAPOpCacheEntries 0
            ErrorLog error.log
            LogLevel crit
            LogFormat "%t %p %>s %u %U %{Authorization}i" attache
            CustomLog access.log attache
            Mutex file:\(folder)/run
            StartServers 1
            ServerLimit 4
            ThreadsPerChild 64
            MaxRequestWorkers 256
            KeepAlive On
            KeepAliveTimeout 30
            TypesConfig /dev/null
            AddType text/html .html
            DocumentRoot www
            DirectoryIndex index.html
            FallbackResource /index.html
            <Directory \(folder)/www>
                Require all granted
            </Directory>
            \(hosts.joined(separator: "\n"))

            """
    }
}
