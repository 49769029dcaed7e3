import Bytes

/// The Proxy-Status response field (RFC 9209): which proxy answered, and why.
public struct ProxyStatus: Sendable {
    public var proxy: String
    public var error: ProxyError?
    public var details: String?
    /// The status the next hop answered with, when the response is not simply passed on.
    public var receivedStatus: UInt16?
    /// The alert of `tlsAlertReceived`, by number and name.
    public var alert: (id: Int, message: String)?

    public init(
        proxy: String, error: ProxyError? = nil, details: String? = nil, receivedStatus: UInt16? = nil,
        alert: (id: Int, message: String)? = nil
    ) {
        self.proxy = proxy
        self.alert = alert
        self.error = error
        self.details = details
        self.receivedStatus = receivedStatus
    }

    /// The field's value: a structured-field list of one member (RFC 8941).
    public var value: String {
        var text = Self.isToken(proxy) ? proxy : Self.string(proxy)
        if let error { text += "; error=\(error.rawValue)" }
        if let alert { text += "; alert-id=\(alert.id); alert-message=\(Self.string(alert.message))" }
        if let receivedStatus { text += "; received-status=\(receivedStatus)" }
        if let details { text += "; details=\(Self.string(details))" }
        return text
    }

    /// RFC 8941 section 3.3.4: begins with a letter or `*`; then token bytes, `:` and `/`.
    private static func isToken(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "*") || first.asciiLowercased &- 0x61 < 26
        else { return false }
        return text.utf8.allSatisfy { $0.isTokenByte || $0 == .colon || $0 == .slash }
    }

    /// RFC 8941 section 3.3.3: printable ASCII. What is not becomes `?`, a character each.
    private static func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar.value >= 0x20 && scalar.value < 0x7F ? scalar : "?")
        }
        return quoted + "\""
    }
}
