import Bytes
import HTTP
import Rules

extension RefusedCredentials {
    /// The place in a request where its client brings a credential that the rule refuses. Parts of a body are not searched.
    enum Place {
        case userinfo
        /// - Parameter name: as the rule or the proxy spells it.
        case field(String)
        case parameter(String)

        var words: String {
            switch self {
            case .userinfo: "in its URL"
            case .field(let name): "in the field \(name)"
            case .parameter(let name): "in the parameter \(name) of its URL"
            }
        }
    }

    /// - Parameters:
    ///   - isInTunnel: whether the request came through a tunnel, so that its `Proxy-Authorization` is not for this proxy.
    ///   - line: the index of a line that is no credential of the client, such as a placeholder; nil: each line counts.
    func place(in request: RequestHead, of head: Span<UInt8>, isInTunnel: Bool, except line: Int?) -> Place? {
        if let userinfo = request.target.userinfo, !userinfo.isEmpty { return .userinfo }
        if isInTunnel, request.fields.present.contains(.proxyAuthorization) { return .field("proxy-authorization") }
        for name in fields where request.fields.hasVariable(name.utf8Span.span, in: head, except: line) {
            return .field(name)
        }
        let target = head.extracting(request.target.text)
        for name in parameters where QueryParameters.mayContain(name.utf8Span.span, in: target) {
            return .parameter(name)
        }
        return nil
    }
}
