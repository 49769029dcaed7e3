import Bytes
import HTTP
import Upstream

/// A client's own login by a scheme that logs connections in (RFC 4559 section 6): it is relayed, on a connection that is
/// the client's alone.
extension Exchange {
    /// Whether the request goes out with a token of the client's own for the connection that it is sent on.
    var bringsOwnLogin: Bool {
        guard challenges?.origin.isOurs != true, signing == nil, let field = request.fields.first(.authorization) else {
            return false
        }
        let head = headBytes
        return Self.isOfConnection(head.readable.extracting(field.value))
    }

    /// Whether the response asks the client for one. It must not answer through a proxy that does not say that it keeps
    /// their connections together.
    var asksForOwnLogin: Bool {
        guard upstream.head.status == .unauthorized else { return false }
        return upstream.withHeadBytes { bytes in
            upstream.head.fields.contains { field in
                field.known == .wwwAuthenticate && Self.isOfConnection(bytes.extracting(field.value))
            }
        }
    }

    private static func isOfConnection(_ value: Span<UInt8>) -> Bool {
        begins(value, with: "ntlm") || begins(value, with: "negotiate")
    }

    private static func begins(_ value: Span<UInt8>, with scheme: StaticString) -> Bool {
        let length = scheme.utf8CodeUnitCount
        guard value.count >= length, value.extracting(first: length).equalsIgnoringCase(scheme) else { return false }
        return value.count == length || value[length].isBlank || value[length] == .comma
    }
}
