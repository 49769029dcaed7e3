import Bytes
import HTTP

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
}
