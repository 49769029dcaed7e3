extension ManualTopic {
    static let parents = ManualTopic(
        "parents", "other proxies on the way: HTTP, SOCKS or a PAC file",
        """
        Use this if your requests must go through another proxy, such as a company proxy that answers 407.

            parent jump { socks5 jump.example.com:1080 }
            route *.partner.example.com { via jump }
            challenge "jump host" { proxy yes; protocol socks; use ci }
            challenge "corp proxy" { proxy yes; host *.corp.example.com; method ntlm digest; use ci }

        `parent` names the proxies, `route … { via }` uses them, and a `challenge` with `proxy yes` logs in to them. The host of
        that rule is the parent's. Its protocol is http, https or socks.

            $ attache status

        The first parent that works is used. A parent that refuses connections is skipped, and tested in the background until
        it works again. A request is sent to another parent only if no parent has received it. A tunnel also tries another one
        if a parent closes the connection instead of opening the tunnel. `attache status` and the dashboard show the state of
        each parent with the reason.

        Tunnels and requests through a parent of https share connections by HTTP/2, if the parent chooses it. See 'attache help
        http2'.

        The parent resolves names. So `egress` checks the parent's address, and addresses in URLs, but not the address of a name.

        A 407 that no rule answers becomes a 502 that names the rule to write. A client's own Proxy-Authorization is for this
        proxy, and is not forwarded. A SOCKS server that wants a password gets each answer on a connection of its own. `attache
        challenges` shows it as username/password.

        = A parent that answers 401
        A parent may refuse a wrong password with a 401 (tinyproxy does). A 401 to CONNECT is always the parent's. For another
        request the proxy asks the parent by CONNECT with the same password, until the parent has accepted it. Later it asks
        again if a 401 looks like the parent's, or would count against the origin's credential. `probe no` in the rule switches
        this off.

        A parent that answers a CONNECT without a password by a bare 401 never asks. `preempt always` sends the password with
        each request: to a parent by https, on this machine, or with `secure no` in the rule.

            challenge "never asks" { proxy yes; host gw.corp.example.com; secure no; method basic; use ci; preempt always }

        = PAC files
        With `pac`, a script names the proxies for each host, or DIRECT for none. `attache check` runs the script once.

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
        """, ManualTopic.Entry.of(FileDirective.parent),
        ManualTopic.Entry.of(ParentReader.Word.http, .https, .socks5, .socks4a, .except, .pac, .credentials))

    static let store = ManualTopic(
        "store", "the credential store",
        """
        The store keeps credentials in a database, encrypted. Use it to add passwords by command, or to share them between
        several proxies.

            $ attache credential set http://ci.example.com/ builder --realm Jenkins
            $ attache credential import ~/.netrc
            $ attache credential list

        A stored credential answers if the rules say `default`, or if no rule matches. `persistence permanent` saves credentials
        too. Secrets are encrypted (AES-256-GCM). Hosts, realms and users are not.

            store sqlite /var/lib/attache/credentials.db { key file /run/secrets/store.key }

        Without `store` in the rule file, `attache credential` or a rule with `persistence permanent` makes one in `state`: the
        file credentials.db and its key, credentials.key. A running proxy opens it on a reload. Anyone who has both files can read
        the passwords. So keep the key elsewhere, and back it up: without the key the passwords are lost.

        = Import
        `attache credential import ~/.netrc` reads netrc and curl's configuration files. These files have no realms. So such a
        credential answers any realm and method (Basic, Digest, NTLM; `--method any`), unless there is a credential for that
        very realm. With `--method negotiate` or `any`, the password goes to the KDC of the user's principal, but only where a
        rule says `method negotiate` and `default`.
        A netrc entry answers on every port of its host, in the protocol that `--protocol` names (https by default).

        = Other kinds
        `--method html-form` is the password of a login page. The URL socks5://HOST:PORT is for a SOCKS parent. `--token FILE`
        is a bearer token, for every realm of the server or for that of `--realm`. `--certificate FILE --key FILE` is a client
        certificate. If there are several, the one is shown whose issuer the server accepts, or else the default one.

        = Another place
        `attache credential export --to file KEY > FILE` writes all credentials, encrypted under another key. `attache credential
        import FILE --key file KEY` reads them elsewhere. `attache store migrate OLD.conf NEW.conf` copies a whole store into
        the one of another rule file, and reads it back. `sqlite3 credentials.db '.backup FILE'` makes a backup. The latest
        changes are in a log beside the file, so do not just copy it. A running proxy uses a backup as soon as mv or cp puts it
        back.

        = PostgreSQL with a standby
        Name every host of the database: with "host=db1,db2 dbname=attache target_session_attrs=read-write", libpq uses the one
        that can be written to.

        While no host can be written to, the proxies use the credentials that they know. /readyz, the log and the metric
        attache_store_up show it. A new refusal, token or protection space is written later. A command that changes the store
        fails with a message: run it again. When the standby is promoted, each proxy connects to it within a second or two and
        reads everything. A change that the old primary had not sent to its standby is lost.

        Proxies learn of each other's changes by LISTEN, and ask for the number of the latest change once a second. So PgBouncer
        works in session mode and in transaction mode, and a server without LISTEN is polled. PostgreSQL and PgBouncer were
        tested. Pgpool-II, CockroachDB and YugabyteDB were not.

        = What else it keeps
        The store remembers for 30 days which paths of a server asked for what, and what answered. After a restart, Basic and
        tokens then need no new 401, and Digest needs one for all. It keeps fetched tokens, encrypted.

        It keeps refusals: no process sends a refused value again. That ends when you set the value again, in the store or in
        its file, even to the same value. A value that was accepted before is also tried again by one request. A changed value
        is used within a second, whether it changed in the store, in a secret file or on another proxy. Connections that are
        logged in with the old value finish their request and close.
        """, ManualTopic.Entry.of(FileDirective.store), ManualTopic.Entry.of(StoreReader.Word.key))

    static let ftp = ManualTopic(
        "ftp", "files from FTP servers, by ftp:// URLs",
        """
        A tool can fetch and upload files of FTP servers through the proxy, with GET, HEAD and PUT of an ftp:// URL.

            credential anonymous { user anonymous; password "guest@example.com" }
            challenge "mirror" { protocol ftp; host ftp.example.com; use anonymous }

            $ attache credential set ftp://ftp.example.com/ anonymous --realm FTP

        An FTP server always wants a login. For the rules it is a Basic challenge of `protocol ftp` with the realm "FTP". The
        replies 530 and 430 refuse it, and no others do. The proxy logs in as `anonymous` only if a credential or the URL says
        so. Without an answer the client gets a 401, and may send `Authorization: Basic` itself.

        The proxy uses TLS if the server offers it. Then `server-trust` rules of `protocol ftp` apply, but no client certificate
        is shown. Because TLS may be missing, an FTP login counts as unencrypted (`secure no`). An interrupted upload leaves a
        part of the file on the server.
        """)
}

extension ParentReader.Word {
    private static let route = "\nroute * { via corp }"

    static let manuals: [ParentReader.Word: DirectiveManual] = [
        .http: DirectiveManual(
            "HOST:PORT …", example: "parent corp { http proxy1.corp.example.com:8080 }\(route)",
            "HTTP proxies. Requests for http:// go to them directly, all others through a tunnel (CONNECT)."),
        .https: DirectiveManual(
            "HOST:PORT …", example: "parent corp { https proxy1.corp.example.com:8443 }\(route)",
            """
            HTTP proxies that are reached by TLS. Their certificates are checked like those of servers (`challenge { proxy yes;
            method server-trust … }`).
            """),
        .socks5: DirectiveManual(
            "HOST:PORT …", example: "parent corp { socks5 jump.example.com:1080 }\(route)",
            "SOCKS 5 servers, with user and password if a rule has a credential for them."),
        .socks4a: DirectiveManual(
            "HOST:PORT …", example: "parent corp { socks4a jump.example.com:1080 }\(route)",
            "SOCKS 4a servers. They know no password."),
        .except: DirectiveManual(
            "HOST …", example: "parent corp { http proxy.example.com:8080; except 10.0.0.0/8 *.local }\(route)",
            "Hosts to reach without the parent: names, patterns, addresses and blocks, as in the request's URL."),
        .pac: DirectiveManual(
            "FILE",
            example: """
                parent auto { pac /etc/attache/proxy.pac; credentials proxy1.corp.example.com:8080; except *.local }
                route * { via auto }
                """,
            "A PAC script that names the proxies. It needs JavaScriptCore or libpacparser: see 'PAC files'."),
        .credentials: DirectiveManual(
            "HOST:PORT …",
            example: "parent corp { pac proxy.pac; credentials proxy1.corp.example.com:8080 }\(route)",
            "The proxies of the script whose 407 a rule may answer. No other proxy gets a credential."),
    ]
}

extension StoreReader.Word {
    static let manuals: [StoreReader.Word: DirectiveManual] = [
        .key: DirectiveManual(
            "file PATH|env NAME", example: "store sqlite credentials.db { key file /run/secrets/store.key }",
            """
            The key that encrypts the secrets: 32 bytes, as 64 hexadecimal digits or 44 characters of base64. `openssl rand
            -base64 32` makes one. `attache store rekey --to file NEW` changes it while the proxy runs.
            """)
    ]
}
