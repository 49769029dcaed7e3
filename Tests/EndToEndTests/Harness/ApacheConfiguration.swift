import Foundation

/// The complete httpd.conf and the documents it serves: nothing of the distribution's own configuration is used.
struct ApacheConfiguration {
    let folder: String
    let port: UInt16
    /// The ports with TLS 1.2 and 1.3.
    let securePorts: (two: UInt16, three: UInt16)
    let identity: ServerIdentity

    var path: String { folder + "/httpd.conf" }

    /// Folder below the document root and the directives that protect it; each has `index.html`, `echo.cgi`, `upload.cgi`.
    private var locations: [(name: String, directives: String)] {
        [
            ("open", ""), ("need", ""), ("may", ""), ("basic", basic("basic-realm")), ("git", basic("git-realm")),
            ("apt", basic("apt-realm")), ("push", basic("push-realm")),
            ("digest", digest("digest-realm", "AuthDigestNonceLifetime 2")),
            ("steady", digest("steady-realm", "AuthDigestNonceLifetime 300")),
            ("pip", digest("pip-realm", "AuthDigestNonceLifetime 300")),
            ("domain", digest("domain-realm", "AuthDigestDomain /domain/ /domain-too/")),
            ("domain-too", digest("domain-realm", "AuthDigestDomain /domain/ /domain-too/")),
            (
                "multi",
                digest(
                    "multi-realm",
                    """
                    Header always add WWW-Authenticate "Negotiate" "expr=%{REQUEST_STATUS} == 401"
                    Header always add WWW-Authenticate "Basic realm=\\"multi-realm\\"" "expr=%{REQUEST_STATUS} == 401"
                    """)
            ),
        ]
    }

    private static let echo = """
        #!/bin/sh
        printf 'Content-Type: text/plain\\r\\n\\r\\n'
        echo "user=$REMOTE_USER type=$AUTH_TYPE method=$REQUEST_METHOD host=$HTTP_HOST via=$HTTP_VIA"
        echo "client=$SSL_CLIENT_S_DN_CN verification=$SSL_CLIENT_VERIFY protocol=$SSL_PROTOCOL"
        """

    /// Counts and hashes the content in any framing, and logs one line for each upload.
    static let upload = """
        #!/bin/sh
        umask 022
        content=$(mktemp "$UPLOADS/content.XXXXXX")
        cat > "$content"
        line="$(wc -c < "$content") $(sha256sum < "$content" | cut -d' ' -f1)"
        rm -f "$content"
        echo "$QUERY_STRING $line" >> "$UPLOADS/arrived"
        printf 'Content-Type: text/plain\\r\\n\\r\\n%s\\n' "$line"
        """

    func write() throws {
        for name in ["www", "etc", "run", "uploads", "repositories"] { mkdir("\(folder)/\(name)", 0o755) }
        chmod(folder + "/uploads", 0o777)
        chmod(folder + "/run", 0o777)
        for location in locations {
            let directory = "\(folder)/www/\(location.name)"
            mkdir(directory, 0o755)
            try Scratch.write("this is \(location.name)\n", to: directory + "/index.html")
            try Scratch.write(Self.echo, to: directory + "/echo.cgi", mode: 0o755)
            try Scratch.write(Self.upload, to: directory + "/upload.cgi", mode: 0o755)
        }
        try writePasswords()
        try Scratch.write(text, to: path)
    }

    private func writePasswords() throws {
        let file = folder + "/etc/basic"
        for (index, account) in [
            (Account.user, Account.password), (Account.unicodeUser, Account.unicodePassword),
            (Account.colonUser, Account.colonPassword),
        ].enumerated() {
            let made = try Finished.run("htpasswd", [index == 0 ? "-bc" : "-b", file, account.0, account.1])
            guard made.succeeded else { throw Spawn.Failure(description: made.description) }
        }
        let realms = ["digest-realm", "steady-realm", "pip-realm", "domain-realm", "multi-realm"]
        let lines = try realms.map { realm in
            "\(Account.user):\(realm):" + (try Hash.hex("md5", "\(Account.user):\(realm):\(Account.password)"))
        }
        try Scratch.write(lines.joined(separator: "\n") + "\n", to: folder + "/etc/digest")
    }

    private func basic(_ realm: String) -> String {
        """
        AuthType Basic
        AuthName "\(realm)"
        AuthBasicProvider file
        AuthUserFile \(folder)/etc/basic
        Require valid-user
        """
    }

    private func digest(_ realm: String, _ more: String) -> String {
        """
        AuthType Digest
        AuthName "\(realm)"
        AuthDigestProvider file
        AuthUserFile \(folder)/etc/digest
        Require valid-user
        \(more)
        """
    }

    private var text: String {
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "auth_digest", "headers",
            "env", "mime", "dir", "cgid", "alias", "log_config", "logio", "unixd", "ssl",
            "socache_shmcb",
        ].filter { access("/usr/lib/apache2/modules/mod_\($0).so", R_OK) == 0 }
        let load = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        let protected = locations.map { "<Location /\($0.name)/>\n\($0.directives)\n</Location>" }
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
            LogFormat "\(ApacheLog.began)%{c}L\\t%m\\t%U%q\\t%>s\\t%u\\t%I\\t%{Authorization}i\\t%{Via}i\\t%{User-Agent}i" attache
            CustomLog access.log attache
            LogFormat "%h %l %u %t \\"%r\\" %>s %b \\"%{Referer}i\\" \\"%{User-Agent}i\\"" combined
            CustomLog combined.log combined
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
            AddType application/json .json
            DocumentRoot www
            DirectoryIndex index.html
            SetEnv UPLOADS \(folder)/uploads
            <Directory \(folder)/www>
                Options +ExecCGI
                AddHandler cgi-script .cgi
                Require all granted
            </Directory>
            SetEnv GIT_PROJECT_ROOT \(folder)/repositories
            SetEnv GIT_HTTP_EXPORT_ALL 1
            ScriptAlias /push/ /usr/lib/git-core/git-http-backend/
            <Directory /usr/lib/git-core>
                Require all granted
            </Directory>
            \(protected.joined(separator: "\n"))
            SSLSessionCache shmcb:\(folder)/run/sessions(512000)
            \(secure(securePorts.two, "TLSv1.2"))
            \(secure(securePorts.three, "TLSv1.3"))
            """ + "\n"
    }

    /// Client certificates are asked for by the folder: after the request, by renegotiation or post-handshake.
    private func secure(_ port: UInt16, _ version: String) -> String {
        let issuers = (try? Hierarchy.shared().root.certificate) ?? "missing"
        return """
            Listen 127.0.0.1:\(port)
            <VirtualHost 127.0.0.1:\(port)>
                ServerName apache.example.test
                SSLEngine on
                SSLProtocol \(version)
                SSLCertificateFile \(identity.chain)
                SSLCertificateKeyFile \(identity.leaf.key)
                SSLCACertificateFile \(issuers)
                SSLVerifyDepth 3
                SSLOptions +StdEnvVars
                <Location /need/>
                    SSLVerifyClient require
                    SSLRenegBufferSize 10485760
                </Location>
                <Location /may/>
                    SSLVerifyClient optional
                </Location>
            </VirtualHost>
            """
    }
}
