extension ManualTopic {
    static let http2 = ManualTopic(
        "http2", "clients that speak HTTP/2",
        """
        Clients can speak HTTP/2 to the proxy where they use TLS with it: at listeners with `tls`, and in intercepted tunnels.
        To allow HTTP/1.1 alone, write `http2 no` behind `tls`, or in the route:

            listen 0.0.0.0:3130 tls certificate proxy.pem key proxy.key http2 no
            route *.corp.example.com { intercept; http2 no }

        The client chooses the protocol in its TLS handshake (ALPN). The proxy asks servers by HTTP/1.1.

        Each stream is a request of its own. Its 401 is answered, its login at the proxy (407) is checked, and its line is in
        the log, with `"http":"2"`. In the format common or combined the line says HTTP/2.0. The field `Via` says 2.

        Clients can open a WebSocket on a stream (RFC 8441). The proxy asks the server for it by HTTP/1.1.

        Some requests need HTTP/1.1:

        = NTLM and Negotiate of the client itself
        Such a login belongs to a connection, and streams share theirs. The proxy resets the stream with HTTP_1_1_REQUIRED. curl
        and browsers then ask again by HTTP/1.1. Logins that the proxy makes are not concerned.

        = authenticate negotiate
        Listeners whose clients may log in by Negotiate do not offer HTTP/2.

        = https in a CONNECT stream
        A client may open tunnels by CONNECT on a stream. If such a tunnel is intercepted, the requests inside are HTTP/1.1.

        = gRPC
        Servers of gRPC need HTTP/2, so requests to them fail. Use a route without `intercept` for them.

        A connection carries up to 100 streams at once (`limits { streams N }`). A thread carries 2000, and 500 of one client
        address (`limits { exchanges N }`). More are refused with REFUSED_STREAM, and clients send them again. A client that
        resets many streams, or sends many useless or malformed frames, loses its connection with ENHANCE_YOUR_CALM. The proxy
        writes a message for the operator, at most one each minute. The metrics attache_http2_streams_total, attache_http2_resets_total and
        attache_http2_floods_total count streams, resets and such connections.

        A malformed request gets a 400, or a reset of its stream. The other streams of the connection go on.
        """)
}
