import Testing

/// A listener with `h2c`: its clients may begin with HTTP/2 without TLS (RFC 9113 section 3.4).
struct PrefaceConversations {
    @Test func `a method that begins like the preface is one of HTTP 1.1`() async {
        await play(
            rules: "listen 127.0.0.1:3128 h2c",
            """
            >> PROPFIND http://h/ HTTP/1.1
            << connect h:80
            << PROPFIND / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: ["listen 127.0.0.1:3128 h2c", "listen 127.0.0.1:3128 h2c socks"])
    func `the preface in pieces begins HTTP 2`(rules: String) async {
        await play(
            rules: rules,
            #"""
            client >> "PR"
            client >> "I * HTTP/2.0\r\n\r\nSM"
            # SETTINGS with five values, and WINDOW_UPDATE
            client << "\x00\x00\x1e\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64\x00\x04\x00\x01\x00\x00\x00\x06\x00\x01\x00\x00\x00\x09\x00\x00\x00\x01\x00\x08\x00\x00\x00\x01\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x0f\x00\x01"
            client >> "\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
            # the acknowledgement
            client << "\x00\x00\x00\x04\x01\x00\x00\x00\x00"
            """#)
    }
}
