import Testing

/// The spellings of one server's host: it is one server under any of them.
struct SpellingConversations {
    @Test func `a password that an IPv6 origin refuses is sent to it once, in whatever way clients spell its address`()
        async
    {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host 2001:db8:0::1; use a }
                """,
            """
            >> GET http://[2001:db8::1]/ HTTP/1.1
            << connect 2001:db8::1:80
            << GET / HTTP/1.1
               Host: [2001:db8::1]
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *was refused*
            report credential a was refused by 2001:db8::1:80*
            client 2 >> GET http://[2001:DB8:0:0:0:0:0:1]/ HTTP/1.1
            << GET / HTTP/1.1
               Host: [2001:DB8:0:0:0:0:0:1]
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            client 2 << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *on hold*
            client 3 >> GET http://[2001:db8::0.0.0.1]/ HTTP/1.1
            << GET / HTTP/1.1
               Host: [2001:db8::0.0.0.1]
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            client 3 << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *on hold*
            """)
    }

    @Test func `an IPv4 origin is the same where its address is written as one of IPv6`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host 192.0.2.7; use a }
                """,
            """
            >> GET http://[::ffff:192.0.2.7]/ HTTP/1.1
            << connect 192.0.2.7:80
            << GET / HTTP/1.1
               Host: [::ffff:192.0.2.7]
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *was refused*
            report credential a was refused by 192.0.2.7:80*
            client 2 >> GET http://192.0.2.7/ HTTP/1.1
            << GET / HTTP/1.1
               Host: 192.0.2.7
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            client 2 << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *on hold*
            """)
    }

    @Test func `a name is the same server with the dot of the root, and rules may be written with it`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h.example.; use a }
                """,
            """
            >> GET http://H.Example./ HTTP/1.1
            << connect h.example:80
            << GET / HTTP/1.1
               Host: H.Example.
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h.example/ HTTP/1.1
            << GET / HTTP/1.1
               Host: h.example
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: [
        ("Basic realm=", "Basic base64(u:p)"), ("Digest nonce=\"1\", qop=\"auth\", realm=", "Digest *"),
    ])
    func `a wrong password is sent twice to a name in all its spellings, though the realm repeats them`(
        challenge: String, answer: String
    ) async {
        /// The server's response to a request for that name.
        func refusal(_ host: String) -> String {
            "HTTP/1.1 401 Unauthorized\n   WWW-Authenticate: \(challenge)\"\(host)\""
        }
        func asked(_ client: Int, _ host: String) -> String {
            """
            client \(client) >> GET http://\(host)/\(client) HTTP/1.1\(client == 1 ? "\n<< connect h.example:80" : "")
            << GET /\(client) HTTP/1.1
               Host: \(host)
               Authorization: -
            >> \(refusal(host))
            """
        }
        func refused(_ client: Int, _ host: String) -> String {
            """
            \(asked(client, host))
            << GET /\(client) HTTP/1.1
               Authorization: \(answer)
            >> \(refusal(host))
            client \(client) << \(refusal(host))
               Proxy-Status: *was refused*
            report credential a was refused by h.example:80*
            """
        }
        func heldBack(_ client: Int, _ host: String) -> String {
            """
            \(asked(client, host))
            client \(client) << \(refusal(host))
               Proxy-Status: *on hold*
            """
        }
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h.example; use a }
                """,
            """
            \(refused(1, "h.example"))
            \(refused(2, "H.EXAMPLE"))
            \(heldBack(3, "h.example."))
            \(heldBack(4, "H.example."))
            \(heldBack(5, "h.Example"))
            """)
    }

    @Test(arguments: [
        "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.1.", "127.000.000.001", "[127.0.0.1]",
    ])
    func `an IPv4 address that is no dotted quad is refused`(host: String) async {
        await play(
            """
            >> GET http://\(host)/ HTTP/1.1
            << HTTP/1.1 400 Bad Request
               Proxy-Status: *

               *
            client << end
            """)
    }
}
