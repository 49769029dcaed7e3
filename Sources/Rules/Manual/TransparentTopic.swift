extension ManualTopic {
    static let transparent = ManualTopic(
        "transparent", "clients that know of no proxy, and that a firewall redirects",
        """
        Use this page for tools that have no setting for a proxy. The firewall of their machine, or of a router, sends their
        connections to the proxy. The proxy finds out which server they meant:

            listen 127.0.0.1:3129 transparent
            credential ci { user builder; password file /etc/attache/ci.password }
            challenge { host ci.example.com; use ci }
            route ci.example.com { intercept }

        The proxy connects to the address that the client asked for, and to no other. `egress` applies to it. Plain HTTP needs no
        `route`: the proxy reads each request and answers challenges. TLS is decrypted where the route of the server says
        `intercept`, and the tool must trust the CA ('attache help tools'). All else is passed on unseen, to the ports of
        `connect-ports`. A connection that is not allowed is closed.

        A client names its server inside of the connection: in `Host`, or in TLS as the server name. Anyone can write a name, so a
        name counts for rules only if it is proved for that address. In https the server's certificate proves it. In http DNS
        does: one of the name's addresses must be this one. A certificate that is trusted only because a rule forgives its
        problems proves nothing, and DNS is asked, too. If a name is not proved, rules for the address apply. A request whose name
        a rule is about is then refused (421), and no credential is sent. A name that a route denies is always refused.

        The same is true for tunnels to an address, by CONNECT or SOCKS, where the route of the address or of the name says
        `intercept`.

        No client can log in: it knows of no proxy, so a 407 would mean nothing to it. Rules know clients by their address, or by
        `as NAME`. With `authenticate`, a transparent listener must have `as`.

        = redirect on the same machine
        The connections of the proxy itself must be exempt, or they come back to it. It refuses them, and the log has
        proxy_loop_detected. Let its user pass, for each kind of address:

            iptables:
            iptables -t nat -A OUTPUT -p tcp -m owner --uid-owner attache -j RETURN
            iptables -t nat -A OUTPUT -p tcp -m multiport --dports 80,443 -j REDIRECT --to-ports 3129
            ip6tables -t nat -A OUTPUT -p tcp -m owner --uid-owner attache -j RETURN
            ip6tables -t nat -A OUTPUT -p tcp -m multiport --dports 80,443 -j REDIRECT --to-ports 3129

        REDIRECT sends connections to 127.0.0.1 and ::1. For IPv6, add `listen [::1]:3129 transparent`.

        = mark
        With CAP_NET_ADMIN the proxy marks its connections to servers with 3128: `-m mark --mark 3128 -j RETURN` exempts them
        where the user is also one of the clients'. Lookups of names, FTP and databases have no mark.

        = redirect on a router
        Connections that come in by an interface go to the router's own address there. Listen on it, or on 0.0.0.0, and say in
        `clients { allow … }` who may connect:

            iptables:
            iptables -t nat -A PREROUTING -i br0 -p tcp -m multiport --dports 80,443 -j REDIRECT --to-ports 3129

        = TPROXY
        Leaves addresses as they are. The proxy needs CAP_NET_ADMIN when it begins to listen:

            iptables:
            iptables -t mangle -A PREROUTING -i br0 -p tcp -m multiport --dports 80,443 -j TPROXY --on-port 3129 --tproxy-mark 1
            ip rule add fwmark 1 lookup 100
            ip route add local default dev lo table 100

        = other traffic
        QUIC (UDP port 443) cannot be redirected to the proxy. Refuse it in the firewall, so that tools use TCP. A client whose
        name server gives other addresses than the proxy's finds its names unproved: let both ask the same one.
        """)
}
