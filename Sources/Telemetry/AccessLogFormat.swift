/// How an access log writes an exchange.
public enum AccessLogFormat: Sendable {
    /// One JSON object a line; what is not known is left out.
    case json
    /// The Common Log Format of the NCSA server: client, user, time, request line, status, bytes. It has no room for
    /// what the proxy decided.
    case common
}
