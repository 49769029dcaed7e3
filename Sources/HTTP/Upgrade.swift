import Bytes

/// The protocol a client asks to change to (RFC 9110 section 7.8).
public enum Upgrade: UInt8, Sendable {
    case webSocket
    /// `h2c`, `TLS/1.0` and whatever else: to pass it on would open a channel past the proxy's judgement of requests.
    case other

    init(_ value: Span<UInt8>) {
        self = value.equalsIgnoringCase("websocket") ? .webSocket : .other
    }
}
