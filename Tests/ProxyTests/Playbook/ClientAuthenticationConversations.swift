import Testing

/// Clients that must say who they are.
struct ClientAuthenticationConversations {
    @Test func `a client that says nothing of itself is challenged, and known by its answer`() async {
        await play(
            rules: "clients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }",
            """
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            >> GET http://h/ HTTP/1.1
            << HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="Attache"*
               Proxy-Status: *

               *
            >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:secret)
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a wrong password of a client is a 407 again, and nothing goes to the origin`() async {
        await play(
            rules: "clients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }",
            """
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:wrong)
            << HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="Attache"*
               Proxy-Status: *

               *
            """)
    }

    @Test func `a rule may look at who asks`() async {
        await play(
            rules: """
                clients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }
                credential a { user u; password p }
                challenge { host h; client bob; use a }
                """,
            #"""
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1\neve:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            client >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:secret)
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            # The answer is known, to this client alone.
            client >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:secret)
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:secret)
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client 2 >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(eve:secret)
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            client 2 << HTTP/1.1 401 Unauthorized
               Proxy-Status: *"rule proxy.conf:6 is for other clients"
               WWW-Authenticate: Basic realm="x"
            """#)
    }

    @Test func `a tunnel is asked for its client before it is opened`() async {
        await play(
            rules: "clients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }",
            """
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            >> CONNECT h:443 HTTP/1.1
            << HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="Attache"*
               Proxy-Status: *

               *
            >> CONNECT h:443 HTTP/1.1
               Proxy-Authorization: Basic base64(bob:secret)
            << connect h:443
            << HTTP/1.1 200 Connection established
            """)
    }
}
