extension ManualTopic {
    static let http2 = ManualTopic(
        "http2", "HTTP/2 with clients and servers, and gRPC",
        """
        Clients can speak HTTP/2 to the proxy where they use TLS with it: at listeners with `tls`, and in intercepted tunnels.
        Without TLS they can at listeners with `h2c`, and in intercepted tunnels to servers that speak it without TLS, too.
        The proxy speaks HTTP/2 with servers of https that choose it. With TLS, each side chooses in its TLS handshake (ALPN), so a
        client of HTTP/1.1 can use a server of HTTP/2, and the reverse. To allow HTTP/1.1 alone, write `http2 no` behind
        `tls`, or in the route. A route can also allow HTTP/2 for one side:

            listen 0.0.0.0:3130 tls certificate proxy.pem key proxy.key http2 no
            route *.corp.example.com { intercept; http2 no }
            route old.example.com { intercept; http2 clients }
            route new.example.com { intercept; http2 origins }

        Each stream is a request of its own. Its 401 is answered, its login at the proxy (407) is checked, and its line is in
        the log. There `"http":"2"` is for the client's side and `"upstream_http":"2"` for the server's. `"parent_http":"2"` is
        for that of a parent. In the format common or combined the line says HTTP/2.0. The field `Via` says 2 for a message that
        came by HTTP/2. 'attache explain' and the list of requests on the dashboard show the versions, too.

        Clients can open a WebSocket on a stream (RFC 8441). The proxy asks the server for it by HTTP/1.1.

        = listen … h2c
        Clients of such a listener may speak HTTP/2 without TLS. They must know that it does (prior knowledge):

            listen 127.0.0.1:3128 h2c

        The connection is HTTP/2 if it begins with `PRI * HTTP/2.0`. Node and nghttp begin so with URLs of http, and h2load with
        `-p h2c`. Any other client of the listener speaks HTTP/1.1, or SOCKS where it also says `socks`. All limits are the
        same as with TLS. `Upgrade: h2c` is dropped: RFC 9113 has withdrawn it. A listener without `h2c` answers the
        preface with 505. The word does not go with `tls`, whose clients choose HTTP/2 in their handshake, nor with
        `transparent`.

        = servers
        The requests of all clients share few connections with a server, and each is a stream. A request that the server has
        not processed is sent again with any method: after GOAWAY, REFUSED_STREAM or a 421. The third time it is the first
        one of a new connection, so a server that ends each connection after few requests loses none. Up to 64 KiB of content
        are kept for that (`limits { replay-memory }`). After a lost connection, only idempotent requests are sent again. A
        server that sends nothing for 15 seconds while a request waits must answer a PING within 10 seconds.

        If the server resets a stream with another code, the request is not sent again. A client of HTTP/2 gets a reset of its
        own stream: CANCEL after CANCEL, and else INTERNAL_ERROR. A client of HTTP/1.1 gets a 502 with the code in
        `Proxy-Status`. If the response has begun, its connection ends.

        Some requests use HTTP/1.1: logins by NTLM and Negotiate, WebSockets, and requests that the server refuses with
        HTTP_1_1_REQUIRED. Apache does that where a folder wants a client certificate. The proxy then asks that server by
        HTTP/1.1 for 10 minutes. The proxy's own requests, such as those for tokens, use HTTP/1.1, but its tries of a refused
        credential use what the server speaks. Requests to servers without TLS use HTTP/1.1, unless the route says
        `http2 prior-knowledge`, the client has begun with HTTP/2 in its tunnel, or a parent makes them.

        = prior-knowledge
        A server without TLS cannot say that it speaks HTTP/2, so the rule file must (RFC 9113 section 3.3):

            route grpc.example.com:50051 { http2 prior-knowledge }

        The proxy speaks HTTP/2 with such a server for clients of both versions. So a client of HTTP/1.1 can use a server that
        speaks only HTTP/2. A server that speaks only HTTP/1.1 does not understand it, and the client gets a 502. Requests
        that need HTTP/1.1, such as WebSockets and logins by NTLM, still use it. If the route leads through a parent, the
        proxy asks it for a tunnel (CONNECT). With servers of https, HTTP/2 is offered as with `yes`.

        = parents
        A parent of https that chooses HTTP/2 opens tunnels on streams of a shared connection, up to 1000 on one. It also makes
        the requests to servers without TLS there. Each stream answers its own 407. Tunnels and requests that the parent has
        not processed are sent again. HTTP/1.1 remains for logins by NTLM and Negotiate, at the parent or at the server of
        such a request, for ftp, and where the route says `http2 no` or `http2 clients`:

            parent corp { https proxy.corp.example.com:3129 }
            route * { via corp; http2 no }

        A parent may limit the streams of a connection. The proxy then makes more connections. nghttpx passes on 8 tunnels or
        requests at once to a host, and lets others wait, unless `backend-connections-per-host` says more.

        = gRPC
        Calls of gRPC pass through an intercepted tunnel in both directions at once, with their trailers. A rule can give them
        a credential; most servers of gRPC send no challenge, so it needs `preempt always`:

            credential api { token file /etc/attache/api.token }
            challenge { host grpc.example.com; secure yes; method bearer; preempt always; use api }
            route grpc.example.com { intercept }

        A server of gRPC refuses a token by the code UNAUTHENTICATED (16) and not by a 401. If the code comes at once, in a
        response without content, the proxy takes it for a 401 without a challenge. It reads or fetches the token again, and
        sends the call once more if it has kept the content (64 KiB, `limits { replay-memory }`). A wrong token is counted as
        always ('attache help refusals'). Another code says nothing about the token. A code that comes behind content goes to the
        client, and the token counts as accepted.

        If the proxy itself refuses a call, the client gets a code too, with the proxy's sentence as its message. The status on
        the wire is 200 then. The log and the metrics have the status that the code stands for: UNAUTHENTICATED (16) for 401 and
        407, PERMISSION_DENIED (7) for 403. RESOURCE_EXHAUSTED (8) stands for 413, 429 and 431, DEADLINE_EXCEEDED (4) for 504,
        UNAVAILABLE (14) for 502 and 503, and UNKNOWN (2) for the rest. Clients may repeat a call that is unavailable. So a 502
        is UNAUTHENTICATED if a login is refused by a rule or has no credential, and PERMISSION_DENIED if the rules of a parent
        refuse. It is UNAVAILABLE if the credential cannot be had now. That is so if a token endpoint or a KDC cannot be
        reached or has an error, or if no process answers at the socket of a helper. A helper that ends with an error may mean that
        it has none, so its call is UNAUTHENTICATED. A CONNECT is no call: it gets its 407.

        If the server resets the stream of a call, the client sees what it would see without the proxy. CANCEL is CANCELLED (1),
        and ENHANCE_YOUR_CALM is RESOURCE_EXHAUSTED (8). INADEQUATE_SECURITY is PERMISSION_DENIED (7). The other codes are
        INTERNAL (13).

        If the client says how long it waits (`grpc-timeout`) and the server has not begun its response by then, the client
        gets DEADLINE_EXCEEDED. That also ends a wait for a token, for another request or for an operator.

        A call may be quiet for 2 hours; `timeouts idle` and `timeouts response` do not end it.

        Clients of gRPC without TLS ("insecure channels") open a tunnel, too, and begin with HTTP/2 in it. An intercepted tunnel
        then carries their calls to the server by HTTP/2 without TLS. `preempt always` in a rule with `secure no` is only for
        servers on this machine. The calls pass unseen where the route says `http2 no` or `http2 origins`. If the route leads
        through a parent, the proxy asks it for a tunnel (CONNECT) to the server.

        = NTLM and Negotiate of the client itself
        Such a login belongs to a connection, and streams share theirs. The proxy resets the stream with HTTP_1_1_REQUIRED. curl
        and browsers then ask again by HTTP/1.1. Logins that the proxy makes are not concerned.

        = authenticate negotiate
        Listeners whose clients may log in by Negotiate do not offer HTTP/2. There `h2c` is an error, unless `as` says who the
        clients are.

        = https in a CONNECT stream
        A client may open tunnels by CONNECT on a stream. If such a tunnel is intercepted, the requests inside are HTTP/1.1.

        = limits
        A connection of a client carries up to 100 streams at once (`limits { streams N }`). A thread carries 2000, and 500 of
        one client address (`limits { exchanges N }`). More are refused with REFUSED_STREAM, and clients send them again. A
        client that resets many streams, or sends many useless or malformed frames, loses its connection with
        ENHANCE_YOUR_CALM. A client whose frames violate the protocol loses it with the code of the fault, such as PROTOCOL_ERROR.
        The proxy writes a message for the operator, at most one each minute. The metrics attache_http2_streams_total,
        attache_http2_resets_total and attache_http2_floods_total count streams, resets and such connections of clients.
        attache_upstream_http2_connections_total and attache_upstream_http2_streams_total count those of servers.

        A malformed request gets a 400, or a reset of its stream. The other streams of the connection go on.
        """)
}
