import Testing

/// Credentials that clients bring themselves, kept for their own later requests.
struct SessionConversations {
    @Test func `a credential from a URL answers its client's later requests until the session was quiet`() async {
        await play(
            rules: """
                timeouts { session 5s }
                challenge { host h; default }
                """,
            """
            >> GET http://u:p@h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET /1 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 4s
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            # each request begins the time anew
            after 5s
            >> GET http://h/3 HTTP/1.1
            << GET /3 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 5001ms
            >> GET http://h/4 HTTP/1.1
            << GET /4 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            """)
    }

    @Test func `a password that is learned is its client's alone, and ends with the session`() async {
        await play(
            rules: """
                clients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }
                timeouts { session 3s }
                challenge { host h; method basic; learn yes; default }
                """,
            #"""
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1\neve:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            client >> GET http://h/1 HTTP/1.1
                      Proxy-Authorization: Basic base64(bob:secret)
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            client >> GET http://h/1 HTTP/1.1
                      Proxy-Authorization: Basic base64(bob:secret)
                      Authorization: Basic base64(u:p)
            << GET /1 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client >> GET http://h/2 HTTP/1.1
                      Proxy-Authorization: Basic base64(bob:secret)
            << GET /2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET /2 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client 2 >> GET http://h/3 HTTP/1.1
                        Proxy-Authorization: Basic base64(eve:secret)
            << GET /3 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            client 2 << HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
                        Proxy-Status: *
            after 3001ms
            client >> GET http://h/4 HTTP/1.1
                      Proxy-Authorization: Basic base64(bob:secret)
            << GET /4 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            client << HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
                      Proxy-Status: *
            """#)
    }
}
