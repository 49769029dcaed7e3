import Bytes
import HTTP

/// What the administrator's site needs to know of a request.
struct AdminRequest {
    var method: HTTP.Method
    /// The request target as it was sent.
    var target: [UInt8]
    /// The target's path without the query; empty where a target has none.
    var path: [UInt8]
    /// Whom an absolute target names; nil for the other forms.
    var authority: NamedAuthority?
    /// The host that the request names, in its target or its Host field, in lower case; nil in HTTP/1.0.
    var host: String?
    /// The values of all `Authorization` lines.
    var authorization: [[UInt8]]
    /// Whether the proxy has passed it on.
    var isForwarded = false

    /// The scheme, host and port of an absolute target.
    struct NamedAuthority {
        var isHTTP: Bool
        var host: String
        var port: UInt16
    }
}

extension AdminRequest {
    /// - Parameters:
    ///   - bytes: those that `head` was parsed from.
    ///   - via: what the proxy says in `Via`.
    init(_ head: RequestHead, _ bytes: Span<UInt8>, via: Via? = nil) {
        isForwarded = via?.occurs(in: head.fields, of: bytes) ?? false
        method = head.method
        target = bytes.extracting(head.target.text).array
        path = bytes.extracting(head.target.path).array
        if let query = path.firstIndex(of: UInt8(ascii: "?")) { path.removeSubrange(query...) }
        if head.target.form == .absolute, let named = head.target.authority {
            if path.isEmpty { path = [.slash] }
            authority = NamedAuthority(
                isHTTP: head.target.scheme == .http, host: bytes.extracting(named.host).text.lowercased(),
                port: named.explicitPort ?? 80)
        }
        host = head.authority.map { bytes.extracting($0.host).text.lowercased() }
        authorization = []
        for field in head.fields where field.known == .authorization {
            authorization.append(bytes.extracting(field.value).array)
        }
    }
}
