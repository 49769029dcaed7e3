/// How long a client of the administrator's listener may take, in milliseconds.
struct AdminTimeouts: Sendable {
    /// Between two requests. Prometheus asks every 15 to 60 seconds and connects anew where it must.
    var idle = 30_000
    /// From a request's first byte to the end of its head.
    var head = 5_000
    /// To take an answer.
    var response = 10_000
    /// To read an answer that ends the connection while the client may still be sending.
    var linger = 1_000
}
