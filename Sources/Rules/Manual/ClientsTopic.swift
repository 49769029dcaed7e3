extension ManualTopic {
    static let clients = ManualTopic(
        "clients", "users of the proxy: addresses, passwords, tokens, tickets",
        """
        Addresses that are not allowed are refused when they connect: with a 403 where they speak in clear, without a word
        by TLS. Where `authenticate` asks for a login, the proxy answers 407 until the client has logged in. Rules,
        sessions and the log then use that name. A client that has shown a certificate (see `listen`) needs no other
        login: its name is the SPIFFE ID of the certificate, else its common name.

            clients {
                allow 10.0.0.0/8
                authenticate digest basic
                users file /etc/attache/users
            }

        The proxy reads the files again when they change: it refuses a user who is gone from them with the next request,
        also on a kept connection and in an intercepted tunnel; a tunnel that is relayed unseen lasts. Names and passwords
        are compared as bytes, in UTF-8: `é` typed as one character or as two is not the same.

            $ attache password alice >> /etc/attache/users
        """, ManualEntry.of(FileDirective.clients),
        ManualEntry.of(
            ClientsDirective.allow, .authenticate, .users, .tokens, .keytab, .allowPrincipals, .nonceKey, .realm))

    static let egress = ManualTopic(
        "egress", "the addresses and ports that the proxy may connect to",
        """
        Asked with the address, after the name is resolved, so that no name can be pointed inside later. The narrowest
        entry that holds the address decides: the longer prefix; of equals one with a port, then an address over a class,
        then `deny` over `allow`. The order of the lines does not matter. An address that no entry holds is permitted.

        Entries are addresses, blocks and classes, each with `:port` if it is for that port only ([::1]:80,
        [fd00::/8]:443). The classes are:

        = loopback, link-local, multicast, unspecified
        the blocks of these names.

        = metadata
        where clouds hand out a machine's credentials: 169.254.169.254, fd00:ec2::254, 100.100.100.200 and others.

        = private
        10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7

        = any
        all of them.

        loopback, link-local, multicast, unspecified and metadata are refused even without an entry. Only an entry at least
        as narrow lifts that: `allow loopback` does, `allow any` does not. The proxy's own listeners are never reached,
        whatever stands here, but for the practice pages of `admin`.

            egress { deny any; allow 10.20.0.0/16 192.0.2.7:443 }

        WARNING: with `allow loopback` a client of the proxy reaches every service that listens on this machine only. Name
        the address and the port instead.
        """, ManualEntry.of(FileDirective.egress), ManualEntry.of(EgressDirective.allow, .deny, .connectPorts))
}

extension ClientsDirective {
    static let manuals: [ClientsDirective: DirectiveManual] = [
        .allow: DirectiveManual(
            "ADDRESS …", default: "127.0.0.0/8 ::1", example: "clients { allow 127.0.0.0/8 ::1 10.0.0.0/8 }",
            "Addresses that may connect."),
        .authenticate: DirectiveManual(
            "none|basic|digest|bearer|negotiate …", default: "none",
            example: """
                clients { authenticate negotiate basic; users file /etc/attache/users; keytab /etc/attache/http.keytab }
                """,
            """
            `none` asks for no login. The others are offered in their order:

            = basic
            A password, against the users file: `name:hash`, as `attache password` and htpasswd make it (bcrypt, SHA-crypt,
            yescrypt, $apr1$); more columns behind it are ignored. It travels as it is: over a network, use `listen … tls`.
            A line whose hash costs more than about a second to check is left out: more than 1,000,000 rounds of SHA-crypt,
            a cost of 14 of bcrypt, or 128 MiB of yescrypt.

            = digest
            A password that never travels, against the users file: `name:realm:digest`, as `attache password --digest` and
            htdigest make it. SHA-256 is offered, then MD5, as far as there are lines of them. A reader of these lines can
            log in; a user with only a hash cannot use Digest. Some clients compute nonsense of a realm that is not ASCII:
            then say one that is.

            = bearer
            A token, against the tokens file: `name:` and the token's SHA-256, from `attache password --method token`.

            = negotiate
            A Kerberos ticket for `HTTP/` and the name by which clients call the proxy, whose key is in the keytab; once
            for a connection, as long as it holds. The user is the principal, as alice@EXAMPLE.COM. Keys of other services
            in the keytab admit no client; where they are the same key, as in a keytab of Active Directory for one machine
            account, a ticket for any of them does. It needs MIT's library (libgssapi-krb5-2), which notes in /var/tmp, or
            in KRB5RCACHEDIR, what was used up.
            """),
        .users: DirectiveManual(
            "file PATH", example: "clients { authenticate basic; users file /etc/attache/users }",
            "Lines of `name:hash`, and of `name:realm:digest`."),
        .tokens: DirectiveManual(
            "file PATH", example: "clients { authenticate bearer; tokens file /etc/attache/tokens }",
            "Lines of `name:` and the hash of a token."),
        .keytab: DirectiveManual(
            "PATH", example: "clients { authenticate negotiate; keytab /etc/attache/http.keytab }",
            "The keys of the service that clients get tickets for."),
        .allowPrincipals: DirectiveManual(
            "PRINCIPAL …",
            example: "clients { authenticate negotiate; keytab k; allow-principals *@EXAMPLE.COM }",
            """
            Which principals may come with a ticket: `*` stands for a part of a name or of a realm, never for a slash. Said
            or not, no service (HTTP/ci.example.com@EXAMPLE.COM) and no instance (alice/admin@EXAMPLE.COM) may that is not
            named.
            """),
        .nonceKey: DirectiveManual(
            "file PATH|env NAME",
            example: "clients { authenticate digest; users file u; nonce-key file /run/secrets/nonce.key }",
            """
            The key of Digest's nonces: several proxies with the same key accept each other's nonces; 32 bytes as for
            `store`. Without it a client that comes to another proxy is asked once more. A nonce lives for five minutes; an
            answer that was overheard is of no use to the same proxy, and for that time of use to each other, once.
            """),
        .realm: DirectiveManual(
            "TEXT", default: "\"Attache\"", example: "clients { realm \"our proxy\" }",
            "The name that clients show to their users when they ask for the password."),
    ]
}

extension EgressDirective {
    static let manuals: [EgressDirective: DirectiveManual] = [
        .allow: DirectiveManual(
            "ADDRESS …", example: "egress { allow 127.0.0.1:3127 }", "Addresses that it may connect to."),
        .deny: DirectiveManual(
            "ADDRESS …", example: "egress { deny private }",
            """
            Addresses that it may not connect to: the client gets a 403 that names the entry. `deny private` is for a proxy
            whose clients have no business inside.
            """),
        .connectPorts: DirectiveManual(
            "any|PORT …", default: "443", example: "egress { connect-ports 443 8443 9000-9100 }",
            """
            Ports that CONNECT may name, single or LOW-HIGH. `any` lets a client speak any protocol to any server.
            """),
    ]
}
