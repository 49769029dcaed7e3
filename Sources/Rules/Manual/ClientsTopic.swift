extension ManualTopic {
    static let clients = ManualTopic(
        "clients", "who may use the proxy: addresses, passwords, tokens, tickets",
        """
        These directives say which clients may use the proxy, and how they log in. By default every client on this machine
        may use it, without a login.

            clients {
                allow 10.0.0.0/8
                authenticate digest basic
                users file /etc/attache/users
            }

        `attache password` makes a line of the users file.

            $ attache password alice >> /etc/attache/users

        A client whose address is not allowed is refused when it connects. It gets a 403; on a TLS listener the connection is
        closed. With `authenticate`, the proxy answers 407 until the client has logged in. Rules, sessions and the log then
        use that name. A client certificate (see `listen`) replaces the login. The name is then the SPIFFE ID of the
        certificate, or else its common name. With `clients spiffe` it is always the SPIFFE ID.

        The files are read again when they change. A user who was removed is refused from the next request on, also on a
        connection that is open and in an intercepted tunnel. A tunnel that is not intercepted lasts until it is closed.
        Names and passwords are compared as bytes in UTF-8. So `é` typed as one character or as two is not the same.
        """, ManualTopic.Entry.of(FileDirective.clients),
        ManualTopic.Entry.of(
            ClientsReader.Word.allow, .authenticate, .users, .tokens, .keytab, .allowPrincipals, .nonceKey, .realm))

    static let egress = ManualTopic(
        "egress", "the addresses and ports that the proxy may connect to",
        """
        These directives limit where the proxy connects. So a client cannot use it to reach internal services.

            egress { deny any; allow 10.20.0.0/16 192.0.2.7:443 }

        By default every address is allowed, except loopback, link-local, multicast, unspecified and metadata. To build an
        allow list, begin with `deny any`.

        The rule checks the resolved address. So a DNS change cannot lead a request to an internal host. The most specific
        entry that matches decides: first the longer prefix, then an entry with a port, then an address before a class,
        then `deny` before `allow`. The order of the lines does not matter.

        An entry is an address, a block or a class. With `:port` it is for that port only ([::1]:80, [fd00::/8]:443). The
        classes are:

        = loopback, link-local, multicast, unspecified
        The blocks of these names.

        = metadata
        The addresses where clouds give out a machine's credentials: 169.254.169.254, fd00:ec2::254, 100.100.100.200 and
        others.

        = private
        10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7

        = any
        All addresses.

        Only an equally or more specific `allow` permits the classes that are refused by default: `allow loopback` does,
        `allow any` does not. The proxy never connects to its own listeners, except to the practice pages of `admin`.

        WARNING: with `allow loopback`, a client can reach every service that listens on this machine only. Name the address
        and the port instead.
        """, ManualTopic.Entry.of(FileDirective.egress),
        ManualTopic.Entry.of(EgressReader.Word.allow, .deny, .connectPorts))
}

extension ClientsReader.Word {
    static let manuals: [ClientsReader.Word: DirectiveManual] = [
        .allow: DirectiveManual(
            "ADDRESS …", default: "127.0.0.0/8 ::1", example: "clients { allow 127.0.0.0/8 ::1 10.0.0.0/8 }",
            "Addresses that may connect to the proxy."),
        .authenticate: DirectiveManual(
            "none|basic|digest|bearer|negotiate …", default: "none",
            example: """
                clients { authenticate negotiate basic; users file /etc/attache/users; keytab /etc/attache/http.keytab }
                """,
            """
            How clients log in. `none` means without a login. Otherwise the methods are offered in this order:

            = basic
            A password, checked with lines `name:hash` of the users file. `attache password` and htpasswd make them (bcrypt,
            SHA-crypt, yescrypt, $apr1$). Further columns are ignored. The password is sent unencrypted: over a network, use
            `listen … tls`. A line whose check takes more than about a second is ignored: more than 1,000,000 rounds of
            SHA-crypt, a cost of 14 of bcrypt, or 128 MiB of yescrypt.

            = digest
            A password that is never sent, checked with lines `name:realm:digest` of the users file. `attache password
            --digest` and htdigest make them. SHA-256 is offered, then MD5, if there are such lines. Keep the file secret: such
            a line is enough to log in. A user with only a hash cannot use Digest. Some clients fail with a realm that is not
            ASCII: then choose another realm.

            = bearer
            A token, checked with the tokens file: `name:` and the token's SHA-256, from `attache password --method token`.

            = negotiate
            A Kerberos ticket for `HTTP/` and the name by which clients call the proxy. The keytab has the key of that
            service. One login is valid for the connection, until the ticket expires. The user is the principal, such as
            alice@EXAMPLE.COM. Keys of other services in the keytab admit no client. But if they are the same key, a ticket
            for any of them does; this is so in a keytab of Active Directory for one machine account. It needs MIT's library
            (libgssapi-krb5-2), which keeps a replay cache in /var/tmp, or in KRB5RCACHEDIR.
            """),
        .users: DirectiveManual(
            "file PATH", example: "clients { authenticate basic; users file /etc/attache/users }",
            "The users file, with lines `name:hash` and `name:realm:digest`."),
        .tokens: DirectiveManual(
            "file PATH", example: "clients { authenticate bearer; tokens file /etc/attache/tokens }",
            "The tokens file, with lines `name:` and the hash of a token."),
        .keytab: DirectiveManual(
            "PATH", example: "clients { authenticate negotiate; keytab /etc/attache/http.keytab }",
            "The file with the keys of the service that clients get tickets for."),
        .allowPrincipals: DirectiveManual(
            "PRINCIPAL …",
            example: "clients { authenticate negotiate; keytab k; allow-principals *@EXAMPLE.COM }",
            """
            The Kerberos principals that may use the proxy. `*` matches a part of a name or of a realm, but never a slash.
            Services (HTTP/ci.example.com@EXAMPLE.COM) and instances (alice/admin@EXAMPLE.COM) are refused unless you name
            them. The default is every user.
            """),
        .nonceKey: DirectiveManual(
            "file PATH|env NAME",
            example: "clients { authenticate digest; users file u; nonce-key file /run/secrets/nonce.key }",
            """
            The key of Digest's nonces, for several proxies: with the same key they accept each other's nonces. It is 32
            bytes, written as for `store`. Without it, a client that changes to another proxy is asked once more. A nonce
            expires after five minutes. An attacker who overhears an answer cannot use it at the same proxy, but once at each
            other proxy within these five minutes.
            """),
        .realm: DirectiveManual(
            "TEXT", default: "\"Attache\"", example: "clients { realm \"our proxy\" }",
            "The name that clients show to the user when they ask for the password."),
    ]
}

extension EgressReader.Word {
    static let manuals: [EgressReader.Word: DirectiveManual] = [
        .allow: DirectiveManual(
            "ADDRESS …", example: "egress { allow 127.0.0.1:3127 }", "Addresses that the proxy may connect to."),
        .deny: DirectiveManual(
            "ADDRESS …", example: "egress { deny private }",
            """
            Addresses that the proxy must not connect to. The client gets a 403 that names the entry. Use `deny private` if
            clients must not reach the internal network.
            """),
        .connectPorts: DirectiveManual(
            "any|PORT …", default: "443", example: "egress { connect-ports 443 8443 9000-9100 }",
            """
            The ports that CONNECT may name: single ports, or LOW-HIGH. With `any`, a client can speak any protocol to any
            server.
            """),
    ]
}
