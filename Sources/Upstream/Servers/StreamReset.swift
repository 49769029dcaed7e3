/// The reason with which a server resets a stream (RFC 9113 section 7).
public struct StreamReset: Sendable, CustomStringConvertible {
    public let code: UInt32

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    public var description: String {
        let number = Int(clamping: code)
        return number < Self.names.count ? "HTTP/2 error \(Self.names[number])" : "HTTP/2 error \(code)"
    }
}
