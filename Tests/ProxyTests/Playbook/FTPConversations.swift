import Testing

/// URLs of FTP, as far as no FTP server is asked: libcurl makes its connections itself.
struct FTPConversations {
    @Test func `only GET, HEAD and PUT are carried out`() async {
        await play(
            """
            >> DELETE ftp://h/file HTTP/1.1
            << HTTP/1.1 405 Method Not Allowed
               Allow: GET, HEAD, PUT
               Proxy-Status: *

               *
            log DELETE ftp://h/file 405
                error: http_request_error
            """)
    }

    @Test func `a parent that speaks HTTP is asked for it, and a SOCKS server is not`() async {
        await play(
            rules: """
                parent corp { http proxy:8080 }
                parent jump { socks5 proxy:1080 }
                route h { via corp }
                route i { via jump }
                """,
            """
            >> GET ftp://h/file HTTP/1.1
            << connect proxy:8080
            << GET ftp://h/file HTTP/1.1
               Host: h
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET ftp://h/file 200
                parent: corp proxy:8080
            >> GET ftp://i/file HTTP/1.1
            << HTTP/1.1 501 Not Implemented
               Proxy-Status: *

               *ftp does not work through the parent jump proxy:1080*
            log GET ftp://i/file 501
                error: http_request_denied
            """)
    }

    @Test func `a host without an address is named`() async {
        await play(
            """
            >> GET ftp://nowhere.invalid/file HTTP/1.1
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=dns_error*

               *
            log GET ftp://nowhere.invalid/file 502
                error: dns_error
            """)
    }

    @Test func `an address that egress denies is not asked`() async {
        await play(
            rules: "egress { deny any }",
            """
            >> GET ftp://h/file HTTP/1.1
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *

               *
            log GET ftp://h/file 403
                error: destination_ip_prohibited
            """)
    }
}
