extension ManualTopic {
    static let parents = ManualTopic(
        "parents", "proxies on the way, by HTTP, SOCKS or a PAC file",
        """
        A route leads through parents with `via`. One to which no connection can be made is left out, and looked at in the
        background until it works again. A request goes to another only while none has seen it, and a tunnel also where one
        hangs up instead of opening it. `attache status` and the dashboard show each with the reason. Names are looked up by
        the parent, so `egress` has a say about the parent's address and about addresses that stand in requests, and none
        about where a name leads.

            parent jump { socks5 jump.example.com:1080 }
            route *.partner.example.com { via jump }
            challenge "jump host" { proxy yes; protocol socks; use ci }

        A rule with `proxy yes` answers a parent's 407, by every scheme; its host is the parent's, its protocol http, https
        or socks. A SOCKS server that wants a user and a password is asked on a connection for each answer; `attache
        challenges` has it as username/password. A 407 that no rule answers becomes a 502 that names the rule to write: a
        client's own Proxy-Authorization is for this proxy and goes no further.

        A parent may refuse a wrong password with a 401 (tinyproxy does). A 401 to CONNECT is always the parent's. For other
        requests the proxy asks the parent by CONNECT with the same password, until that is known to be right, and where a
        401 looks like the parent's or would refuse the origin's credential. `probe no` in the rule switches this off.

            challenge "corp proxy" { proxy yes; host *.corp.example.com; method ntlm digest; use ci }

        A parent that answers a CONNECT without a password by a bare 401 never asks. `preempt always` sends the password with
        each request: for a parent by https, on this machine, or with `secure no` in the rule.

            challenge "never asks" { proxy yes; host gw.corp.example.com; secure no; method basic; use ci; preempt always }

        = PAC files
        With `pac` a script names the proxies for each host, or DIRECT for none. `attache check` runs the script once.

            parent auto { pac /etc/attache/proxy.pac; credentials proxy1.corp.example.com:8080 }
            route * { via auto }

        The script runs in JavaScriptCore if that is installed (Debian: libjavascriptcoregtk-4.1-0), so it may use today's
        JavaScript. Otherwise it runs in libpacparser (Debian: libpacparser1), which knows ES5 only: no `let`, no arrow
        functions. FindProxyForURLEx is called instead of FindProxyForURL if the script has it. Both engines have the same
        functions: isInNet, shExpMatch, dnsResolve, myIpAddress and the others of Netscape, and Microsoft's isInNetEx,
        dnsResolveEx, isResolvableEx, myIpAddressEx, sortIpAddressList and getClientVersion. `alert` does nothing.

        The URL that the script gets has scheme, host and port, no path. The script runs in a process of its own, with 256 MB
        of memory and 5 s for an answer. It is asked again after a minute and when the file changes. If it fails, the request
        fails; it never goes around the parents.
        """, ManualEntry.of(FileDirective.parent),
        ManualEntry.of(ParentDirective.http, .https, .socks5, .socks4a, .except, .pac, .credentials))

    static let store = ManualTopic(
        "store", "credentials that outlive a run",
        """
        `attache credential set URL USER` puts credentials there, and so does `persistence permanent`. Where the rules say
        `default`, or nothing, the default credential of the protection space answers. Secrets are sealed (AES-256-GCM);
        hosts, realms and users can be read.

            $ attache credential set http://ci.example.com/ builder --realm Jenkins
            $ attache credential list

        Without `store` there is one only if a rule says `persistence permanent` or `attache credential` has made one:
        credentials.db in `state`, and beside it, as it is made on the first start, credentials.key. A proxy that runs without
        a store opens one on a reload. A holder of both files has the passwords, so keep the key elsewhere.

            store sqlite /var/lib/attache/credentials.db { key file /run/secrets/store.key }

        = Import
        `attache credential import ~/.netrc` takes over what netrc and curl's configuration files hold; since those know of
        no realms, such a credential answers whatever the server asks with (Basic, Digest, NTLM; `--method any`), where
        nothing is kept for the very realm. A netrc entry answers on every port of its host, in the protocol that
        `--protocol` names (https by default). With `--method negotiate`, or any, the password is taken to a KDC, as that of the
        user's principal, where a rule says `method negotiate` and `default`; nowhere else.

        = Other kinds
        A login page's password is kept with `--method html-form`, a SOCKS parent's for socks5://HOST:PORT, a bearer token
        with `--token FILE` (for the server's every realm, or that of `--realm`), a certificate for servers that ask for one
        with `--certificate FILE --key FILE`; of several the issuers choose that the server accepts, and else it is the
        default.

        = Another place
        `attache credential export --to file KEY > FILE` writes all of them, sealed under another key, and
        `attache credential import FILE --key file KEY` takes them up elsewhere. `attache store migrate OLD.conf NEW.conf`
        copies all of a store into the one of another rule file, and reads it back. `sqlite3 credentials.db '.backup FILE'`
        makes a backup (the latest changes stand in a log beside the file); a proxy that runs takes it over when mv or cp puts
        it back.

        = PostgreSQL with a standby
        Name every host of the database: with "host=db1,db2 dbname=attache target_session_attrs=read-write" libpq takes the
        one that can be written to.

        While no host can be written to, replicas answer with the credentials that they know; /readyz, the log and the metric
        attache_store_up say so. A new refusal, token or space is written later; a command that changes the store fails with
        a sentence, and is to be repeated. When the standby is promoted, each replica connects to it within a second or two
        and reads all that is there. A change that the old primary had not sent to its standby is lost.

        Replicas hear of each other's changes by LISTEN, and ask for the number of the latest change once a second. So
        PgBouncer may stand between in session mode or in transaction mode, and a server without LISTEN is polled. PostgreSQL
        and PgBouncer were seen to work; Pgpool-II, CockroachDB and YugabyteDB were not tried.

        = What else it keeps
        Which paths of a server asked for what and were answered (30 days; Basic and tokens then need no new 401 after a
        restart, Digest one for all), tokens that were fetched, sealed, and what was refused: that value is not sent again by
        any process until it is set anew, there or in its file, be it the same; or, where it was accepted before, until one
        request tries it again. A value that changes, here, in a secret file or by another replica, is used within a second;
        connections that are logged in with the old one serve their request and close.
        """, ManualEntry.of(FileDirective.store), ManualEntry.of(StoreDirective.key))

    static let ftp = ManualTopic(
        "ftp", "ftp:// URLs",
        """
        An ftp:// URL (GET, HEAD, PUT) is carried out by the proxy itself. An FTP server always wants a login, which is a
        Basic challenge of `protocol ftp` with the realm "FTP"; a 530 or 430 refuses it, and no other reply. The proxy logs in
        as `anonymous` only if a credential or the URL says so. Without an answer the client gets a 401 and may send
        `Authorization: Basic` itself.

            credential anonymous { user anonymous; password "guest@example.com" }
            challenge "mirror" { protocol ftp; host ftp.example.com; use anonymous }

            $ attache credential set ftp://ftp.example.com/ anonymous --realm FTP

        TLS is spoken where the server offers it, and then `server-trust` rules of `protocol ftp` apply, but no client
        certificate is shown; since it may be missing, a login counts as sent in clear (`secure no`). An upload that breaks
        off leaves a part of the file there.
        """)
}

extension ParentDirective {
    private static let route = "\nroute * { via corp }"

    static let manuals: [ParentDirective: DirectiveManual] = [
        .http: DirectiveManual(
            "HOST:PORT …", example: "parent corp { http proxy1.corp.example.com:8080 }\(route)",
            "Requests for http:// go to it as they are, all else through a tunnel (CONNECT)."),
        .https: DirectiveManual(
            "HOST:PORT …", example: "parent corp { https proxy1.corp.example.com:8443 }\(route)",
            """
            The same, spoken to by TLS; its certificate is judged as an origin's is (`challenge { proxy yes; method
            server-trust … }`).
            """),
        .socks5: DirectiveManual(
            "HOST:PORT …", example: "parent corp { socks5 jump.example.com:1080 }\(route)",
            "SOCKS 5, with a user and a password where a rule has one."),
        .socks4a: DirectiveManual(
            "HOST:PORT …", example: "parent corp { socks4a jump.example.com:1080 }\(route)",
            "SOCKS 4a, which knows no password."),
        .except: DirectiveManual(
            "HOST …", example: "parent corp { http proxy.example.com:8080; except 10.0.0.0/8 *.local }\(route)",
            "Hosts that are asked directly: names, patterns, addresses and blocks as requests name them."),
        .pac: DirectiveManual(
            "FILE",
            example: """
                parent auto { pac /etc/attache/proxy.pac; credentials proxy1.corp.example.com:8080; except *.local }
                route * { via auto }
                """,
            "A script that names the proxies. It needs JavaScriptCore or libpacparser, as said above."),
        .credentials: DirectiveManual(
            "HOST:PORT …",
            example: "parent corp { pac proxy.pac; credentials proxy1.corp.example.com:8080 }\(route)",
            "Those of the script's proxies whose 407 a rule may answer; no other gets a credential."),
    ]
}

extension StoreDirective {
    static let manuals: [StoreDirective: DirectiveManual] = [
        .key: DirectiveManual(
            "file PATH|env NAME", example: "store sqlite credentials.db { key file /run/secrets/store.key }",
            """
            The key that seals the secrets: 32 bytes as 64 hexadecimal digits or 44 characters of base64, which
            `openssl rand -base64 32` makes. `attache store rekey --to file NEW` changes it while the proxy runs.
            """)
    ]
}
