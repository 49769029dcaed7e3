import Testing

/// Login pages in HTML: forms that the proxy fills in, and the sessions behind them.
struct FormLoginConversations {
    private static let rules = """
        credential web { user u; password p }
        challenge "portal" {
            host h
            method html-form
            form { recognise status 302 location /login*; login /login; fields user={user} password={password} }
            use web
        }
        """

    /// The form in a server's page.
    private static let form = """
        <form action="/login" method="post"><input name="user"><input type="password" name="password">\
        <input type="hidden" name="token" value="t"></form>
        """

    /// The steps from the first request until the login is accepted.
    private static let login = """
        >> GET http://h/a HTTP/1.1
        << connect h:80
        << GET /a HTTP/1.1
        >> HTTP/1.1 302 Found
           Location: /login
        << connect h:80
        server 2 << GET /login HTTP/1.1
        >> HTTP/1.1 200 OK
           Content-Type: text/html
           Set-Cookie: visitor=1

           \(form)
        server 2 << close
        << connect h:80
        server 3 << POST /login HTTP/1.1
           Content-Type: application/x-www-form-urlencoded
           Origin: http://h
           Referer: http://h/login
           Cookie: visitor=1

           user=u&password=p&token=t
        >> HTTP/1.1 302 Found
           Location: /home
           Set-Cookie: sid=1
        server 3 << close
        << connect h:80
        server 4 << GET /home HTTP/1.1
           Cookie: visitor=1; sid=1
        >> HTTP/1.1 200 OK
        server 4 << close
        server << GET /a HTTP/1.1
           Cookie: visitor=1; sid=1
        >> HTTP/1.1 200 OK

           answer
        << HTTP/1.1 200 OK

           answer
        log GET http://h/a 200
            rule: portal
            scheme: html-form
            credential: web
            attempts: 1
        """

    @Test func `a login page is filled in, and the request made again with the session's cookies`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.login)
            # known from now on, and the session's cookies stay here
            >> GET http://h/b HTTP/1.1
               Cookie: own=1; sid=forged
            << GET /b HTTP/1.1
               Cookie: visitor=1; sid=1; own=1
            >> HTTP/1.1 200 OK
               Set-Cookie: sid=2
               Set-Cookie: shown=1
            << HTTP/1.1 200 OK
               Set-Cookie: shown=1
            log GET http://h/b 200
                rule: portal
                scheme: html-form
                credential: web
                attempts: 1
            """)
    }

    @Test func `a page that asks again is a refusal, and the password is not sent another time`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/a HTTP/1.1
            << connect h:80
            << GET /a HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: /login
            << connect h:80
            server 2 << GET /login HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Type: text/html

               \(Self.form)
            server 2 << close
            << connect h:80
            server 3 << POST /login HTTP/1.1

                        user=u&password=p&token=t
            >> HTTP/1.1 200 OK
               Content-Type: text/html

               \(Self.form)
            server 3 << close
            << HTTP/1.1 302 Found
               Location: /login
               Proxy-Status: *refused*
            report credential web was refused *
            >> GET http://h/a HTTP/1.1
            server << GET /a HTTP/1.1
            server >> HTTP/1.1 302 Found
                      Location: /login
            << HTTP/1.1 302 Found
               Location: /login
               Proxy-Status: *on hold*
            """)
    }

    @Test func `a session that has ended is begun again, and the request made with the new one`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.login)
            >> GET http://h/b HTTP/1.1
            server << GET /b HTTP/1.1
                      Cookie: visitor=1; sid=1
            server >> HTTP/1.1 302 Found
                      Location: /login
            << connect h:80
            server 5 << GET /b HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: /login
            server 5 << close
            << connect h:80
            server 6 << GET /login HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Type: text/html

               \(Self.form)
            server 6 << close
            << connect h:80
            server 7 << POST /login HTTP/1.1

                        user=u&password=p&token=t
            >> HTTP/1.1 200 OK
               Set-Cookie: sid=2
            server 7 << close
            server << GET /b HTTP/1.1
                      Cookie: sid=2
            server >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/b 200
                rule: portal
                scheme: html-form
                credential: web
                attempts: 2
            """)
    }

    @Test func `a cookie whose time is over is not sent`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/a HTTP/1.1
            << connect h:80
            << GET /a HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: /login
            << connect h:80
            server 2 << GET /login HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Type: text/html

               \(Self.form)
            server 2 << close
            << connect h:80
            server 3 << POST /login HTTP/1.1

                        user=u&password=p&token=t
            >> HTTP/1.1 200 OK
               Set-Cookie: sid=1
               Set-Cookie: brief=1; Max-Age=20
            server 3 << close
            server << GET /a HTTP/1.1
                      Cookie: sid=1; brief=1
            server >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 19s
            >> GET http://h/a HTTP/1.1
            << GET /a HTTP/1.1
               Cookie: sid=1; brief=1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 1s
            >> GET http://h/a HTTP/1.1
            << GET /a HTTP/1.1
               Cookie: sid=1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `of two requests that meet the login page one logs in for both`() async {
        await play(
            rules: Self.rules,
            """
            client >> GET http://h/a HTTP/1.1
            << connect h:80
            server << GET /a HTTP/1.1
            server >> HTTP/1.1 302 Found
                      Location: /login
            << connect h:80
            server 2 << GET /login HTTP/1.1
            client 2 >> GET http://h/b HTTP/1.1
            after 1s
            << connect h:80
            server 3 << GET /b HTTP/1.1
            server 3 >> HTTP/1.1 302 Found
                        Location: /login
            server 2 >> HTTP/1.1 200 OK
                        Content-Type: text/html

                        \(Self.form)
            server 2 << close
            << connect h:80
            server 4 << POST /login HTTP/1.1

                        user=u&password=p&token=t
            >> HTTP/1.1 200 OK
               Set-Cookie: sid=1
            server 4 << close
            server << GET /a HTTP/1.1
                      Cookie: sid=1
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server 3 << GET /b HTTP/1.1
                        Cookie: sid=1
            server 3 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a login page that does not come in time fails the login, and parks nothing`() async {
        await play(
            rules: Self.rules + "\ntimeouts { response 30s }",
            """
            >> GET http://h/a HTTP/1.1
            << connect h:80
            << GET /a HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: /login
            << connect h:80
            server 2 << GET /login HTTP/1.1
            after 29s
            after 1s
            server << close
            server 2 << close
            client << HTTP/1.1 502 Bad Gateway
                      Proxy-Status: *

                      *did not answer in time*
            report credential web is not logged in at h:80: *
            log GET http://h/a 502
                rule: portal
                scheme: html-form
                credential: web
                error: http_request_denied
                ms: 30000
            # another request tries it again
            >> GET http://h/a HTTP/1.1
            << connect h:80
            server 3 << GET /a HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: /login
            << connect h:80
            server 4 << GET /login HTTP/1.1
            server 4 >> close
            server 3 << close
            client << HTTP/1.1 502 Bad Gateway
                      Proxy-Status: *

                      *
            report credential web is not logged in at h:80: *
            log GET http://h/a 502
                rule: portal
                scheme: html-form
                credential: web
                error: http_request_denied
            """)
    }

    @Test func `a login that leads to another host is not followed there`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/a HTTP/1.1
            << connect h:80
            << GET /a HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: /login
            << connect h:80
            server 2 << GET /login HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: http://elsewhere/login
            server << close
            server 2 << close
            client << HTTP/1.1 502 Bad Gateway
                      Proxy-Status: *

                      *its login leads to http://elsewhere, which is another protection space*
            report credential web is not logged in at h:80: *
            """)
    }

    @Test func `a client that leaves under its login leaves the session to others`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/a HTTP/1.1
            << connect h:80
            << GET /a HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: /login
            << connect h:80
            server 2 << GET /login HTTP/1.1
            client >> close
            server 2 >> HTTP/1.1 200 OK
                        Content-Type: text/html

                        \(Self.form)
            server 2 << close
            << connect h:80
            server 3 << POST /login HTTP/1.1

                        user=u&password=p&token=t
            >> HTTP/1.1 200 OK
               Set-Cookie: sid=1
            server 3 << close
            # which it shows the origin, as nobody else does
            server << GET /a HTTP/1.1
                      Cookie: sid=1
            server >> HTTP/1.1 200 OK
            log GET http://h/a 200
                rule: portal
                scheme: html-form
                credential: web
                attempts: 1
                error: connection_terminated
            client 2 >> GET http://h/b HTTP/1.1
            server << GET /b HTTP/1.1
                      Cookie: sid=1
            server >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            log GET http://h/b 200
                rule: portal
                scheme: html-form
                credential: web
                attempts: 1
            """)
    }

    @Test func `a login page whose time is over with the last byte of its request is not awaited`() async {
        await play(
            rules: Self.rules + "\ntimeouts { response 30s }",
            """
            >> GET http://h/a HTTP/1.1
               User-Agent: \(String(repeating: "x", count: 50_000))
            << connect h:80
            << GET /a HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: /login
            << connect h:80 stalled
            after 29s
            server 2 >> room
            and after 1s
            server 2 << close
            server << close
            client << HTTP/1.1 502 Bad Gateway
                      Proxy-Status: *did not answer in time*

                      *
            report credential web is not logged in *
            """)
    }
}
