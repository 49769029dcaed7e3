extension ManualTopic {
    static let glossary = ManualTopic(
        "glossary", "the words of this manual",
        """
        This page explains the words that the manual, the log and the messages use. Here is a rule, with its words:

            # a rule named "build server": two conditions, host and method, and the answer use
            challenge "build server" { host ci.example.com; method digest; use ci }

        = answer
        What the proxy does with a challenge, such as to send a credential or to trust a certificate.

        = CA
        A certificate authority: a key and a certificate that sign other certificates. The proxy has a CA of its own for
        intercepted https.

        = challenge
        A server's request for a login: a 401 or 407 with its methods, a login page, or a step of the TLS handshake.

        = client
        A tool or program that sends its requests through the proxy.

        = credential
        What the proxy logs in with: a password, a token, a key, a certificate or a Kerberos ticket.

        = egress
        Connections from the proxy to servers, and the rules about their addresses.

        = finding
        A problem of a server's certificate, such as expired or self-signed.

        = intercept
        To decrypt a tunnel, so that the proxy can answer challenges in it.

        = method
        How to log in: basic, digest, ntlm, negotiate, bearer and others. HTTP calls it the authentication scheme.

        = on hold
        Not sent for a while, because a server has refused it. The log calls this parked.

        = operator
        A person who runs the proxy and may answer its questions.

        = parent
        Another proxy, between this proxy and the servers.

        = pin
        The SHA-256 digest of a server's public key.

        = practice server
        Pages below /practice/ at the `admin` address, to try the proxy without a server.

        = preemptive
        Sent with a request before the server asks for it.

        = probe
        A request of the proxy's own, which asks a server whether a credential is still good.

        = protection space
        The part of a server that one login is for. It is the protocol, host, port, realm and method (RFC 9110).

        = realm
        The name that a server gives to a protection space, such as "Jenkins".

        = replica
        One of several proxies that share a store.

        = route
        The rule about how requests to a host travel.

        = rule
        A `challenge` block of the rule file: conditions, and the answer if all of them are true.

        = session
        What the proxy keeps for one client: its credentials and its login cookies.

        = store
        The database with encrypted credentials.

        = tunnel
        A connection that a client opens with CONNECT, usually for https. The proxy cannot read it, unless it intercepts it.

        = value
        The content of a credential, such as one password. A new password is a new value of the same credential.
        """)
}
