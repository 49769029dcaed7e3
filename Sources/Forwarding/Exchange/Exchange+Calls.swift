import Bytes
import HTTP
import Upstream

/// Calls of gRPC.
extension Exchange {
    /// Whether the request is a call of gRPC, whose body may be endless.
    var asksByGRPC: Bool {
        guard let type = request.fields.first(.contentType) else { return false }
        let head = headBytes
        return GRPC.isMediaType(head.readable.extracting(type.value))
    }

    /// The time that the client of a call waits for it; nil if it does not say.
    public var callTimeout: Milliseconds? {
        let head = headBytes
        let field = request.fields.first(named: "grpc-timeout", in: head.readable)
        return field.flatMap { GRPC.timeout(head.readable.extracting($0.value)) }
    }

    /// The status by which the response is judged. A server of gRPC that wants another credential answers 200, with the code
    /// of its refusal in the fields: that is a `401` without a challenge. Another code says nothing about the credential.
    var judgedStatus: Status {
        let upstream = upstream
        guard upstream.isStream, asksByGRPC else { return upstream.head.status }
        switch upstream.refusalOfCall {
        case nil: return upstream.head.status
        case .unauthenticated: return .unauthorized
        default: return .serviceUnavailable
        }
    }
}

extension UpstreamConnection {
    /// The code by which the server refuses a call at once, `unknown` for all that the proxy does not use; nil if the response
    /// has content, or trailers behind its head.
    fileprivate var refusalOfCall: GRPC.Code? {
        // A stream of this type that does not end with its head has chunks.
        guard head.status == .ok, head.framing == .none || head.framing == .length(0) else { return nil }
        return withHeadBytes { bytes in
            guard let type = head.fields.first(.contentType), GRPC.isMediaType(bytes.extracting(type.value)),
                let field = head.fields.first(named: "grpc-status", in: bytes)
            else { return nil }
            let code = GRPC.Code(bytes.extracting(field.value)) ?? .unknown
            return code == .ok ? nil : code
        }
    }
}
