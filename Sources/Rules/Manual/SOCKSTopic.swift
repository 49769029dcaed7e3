extension ManualTopic {
    static let socks = ManualTopic(
        "socks", "clients that speak SOCKS 5, 4a or 4",
        """
        Use this page for tools that know SOCKS, but no HTTP proxy. With `socks`, a listener speaks SOCKS and HTTP on the same
        port:

            listen 127.0.0.1:3128 socks
            egress { connect-ports 22 80 443 }
            route * { intercept }

        A request by SOCKS is a CONNECT: `egress`, `connect-ports`, `route` and `intercept` apply, and the log has its version
        as `socks`. By default only port 443 is allowed: add 80 for plain http, and 22 for ssh. With `intercept`, the proxy
        answers challenges inside of the tunnel, for http and for https.

        Let the proxy resolve names (socks5h, socks4a): rules for a host need its name. With an address (socks5, socks4) the name
        that the client writes inside of the tunnel counts if it is proved. In https the server's certificate proves it, in http
        DNS does ('attache help transparent'). Else only rules for that address apply, and an intercepted request with another name is
        refused (421).

        With `authenticate basic`, clients log in with SOCKS 5 and a user of the users file. SOCKS 4 has no password, and is then
        refused. Where `authenticate` has other methods only, or for clients without a password, use `listen … as`
        ('attache help sockets'). The password is sent unencrypted.

        A refused request gets a code. 2: a rule forbids it. 4: the server is not found. 5: the server refuses the connection. 7:
        BIND and UDP. 8: an unknown kind of address. 1: another reason. SOCKS 4 has 91 for all. The log has the reason.

        = curl
        `curl --socks5-hostname 127.0.0.1:3128 URL`, or `-x socks5h://USER:PASSWORD@127.0.0.1:3128`. For a unix socket: `-x
        socks5h://localhost/run/attache/ci.sock`.

        = ssh, git by ssh
        `ssh -o ProxyCommand='nc -X 5 -x 127.0.0.1:3128 %h %p' HOST`

        = variables
        `attache env` prints `ALL_PROXY=socks5h://127.0.0.1:3128` for tools that read it. http_proxy and https_proxy come first.
        Python tools with httpx fail if they find it and socksio is not installed: `unset ALL_PROXY all_proxy`.

        = Java
        `java -DsocksProxyHost=127.0.0.1 -DsocksProxyPort=3128`. Java resolves some names itself.

        = tools without any setting
        `proxychains4 TOOL`, with the line `socks5 127.0.0.1 3128` in proxychains.conf.
        """)
}
