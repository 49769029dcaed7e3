import Authentication
import Bytes
import HTTP
import Upstream

extension Exchange {
    // How a request becomes a sample, by which the proxy can ask the server itself whether a credential is good: the request line
    // without the version, and the client's fields that change nothing but the form of the response.
    //
    // A request with any other field is no sample: the server may have accepted it for that field.

    /// The sample of a login at a SOCKS server. The proxy logs in as if it went on to the same origin, and closes.
    func loginSample(to origin: UpstreamServer) -> Account.Sample? {
        if isOwn { return nil }
        return Self.tunnelSample(to: origin.connectTarget).map {
            Account.Sample(target: Evidence.hash([UInt8]().span), content: $0.content)
        }
    }

    /// The limit of a sample in bytes; a longer request makes none.
    private static let sampleLimit = 1024

    /// - Parameter target: the request target as the server sees it.
    /// - Returns: the content; nil if the request cannot be repeated.
    func sample(at target: ByteBuffer) -> Account.Sample? {
        if isOwn { return nil }
        if opensTunnel { return Self.tunnelSample(to: target) }
        guard body.isEmpty, request.upgrade == nil else { return nil }
        let head = headBytes
        let method = head.readable.extracting(request.methodName)
        guard Self.sampledMethods.contains(where: { method.equals($0) }) else { return nil }
        let content = ByteBuffer(capacity: 256)
        content.append(method)
        content.append(.space)
        content.append(target.readable)
        content.append("\r\n" as StaticString)
        for field in request.fields {
            let name = head.readable.extracting(field.name)
            if Self.hopFields.contains(where: { name.equalsIgnoringCase($0) }) { continue }
            guard Self.formFields.contains(where: { name.equalsIgnoringCase($0) }) else { return nil }
            content.append(head.readable.extracting(field.line))
        }
        return Self.sample(content, to: target)
    }

    /// The sample of a CONNECT at a parent.
    private static func tunnelSample(to target: ByteBuffer) -> Account.Sample? {
        let content = ByteBuffer(capacity: 256)
        content.append("CONNECT " as StaticString)
        content.append(target.readable)
        content.append("\r\n" as StaticString)
        return sample(content, to: target)
    }

    private static func sample(_ content: ByteBuffer, to target: ByteBuffer) -> Account.Sample? {
        guard content.count <= sampleLimit else { return nil }
        return Account.Sample(target: Evidence.hash(target.readable), content: content.readable.array)
    }

    /// Safe methods (RFC 9110 section 9.2.1): a repetition changes nothing.
    private static let sampledMethods: [StaticString] = ["GET", "HEAD", "OPTIONS", "PROPFIND"]
    /// Fields that the proxy writes itself.
    private static let hopFields: [StaticString] = [
        "host", "connection", "proxy-connection", "keep-alive", "te", "via", "content-length", "proxy-authorization",
        "forwarded", "x-forwarded-for", "traceparent", "tracestate",
    ]
    private static let formFields: [StaticString] = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "depth", "dnt",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma", "range",
        "user-agent",
    ]
}

extension UpstreamServer {
    /// The request target of a CONNECT to the server: its host and port.
    var connectTarget: ByteBuffer {
        let target = ByteBuffer(capacity: 128)
        target.append(isIPv6 ? "[\(hostText)]" : hostText)
        target.append(.colon)
        target.append(decimal: Int(port))
        return target
    }
}
