import HTTP

/// The reason why an exchange ended without its response.
public enum ExchangeFailure: Error {
    /// The client gets this response; nothing was sent to it yet.
    case refused(Refusal)
    /// The upstream gave no response that could be passed on; nothing was sent to the client yet.
    case upstreamFailed(UpstreamConnection.Failure)
    /// The TLS handshake with the client failed. The client got an alert, if that was possible; the text is for the
    /// operator.
    case handshakeFailed(ProxyError, String)
    /// The client is gone, or no longer takes what we send.
    case clientLost
    /// The response had begun and cannot be finished: the client's connection is cut, so that it sees the fault.
    case cutShort(ProxyError, String)

    /// The client must ask again by HTTP/1.1: it logs in on its connection, which streams share.
    case needsHTTP11

    /// Turns `.cutShort` into a refusal, for an exchange that has sent nothing to the client yet.
    public var beforeHead: ExchangeFailure {
        guard case .cutShort(let error, let sentence) = self else { return self }
        return .refused(Refusal(.badGateway, error, sentence))
    }
}

extension Refusal {
    /// The client's answer when its upstream gave no usable response.
    /// - Parameter peer: the upstream's name in the text.
    public init(_ failure: UpstreamConnection.Failure, of peer: String = "the origin") {
        switch failure {
        case .died:
            self.init(.badGateway, .connectionTerminated, "\(peer) closed the connection without an answer")
        case .timedOut:
            self.init(.gatewayTimeout, .httpResponseTimeout, "\(peer) did not answer in time")
        case .invalid(let error): self.init(error)
        case .insecure(let error): self.init(error, peer: peer)
        case .unprocessed:
            self.init(.badGateway, .connectionTerminated, "\(peer) closed the connection before it read the request")
        case .needsHTTP11:
            self.init(.badGateway, .httpProtocolError, "\(peer) takes this request by HTTP/1.1 only")
        case .unspeakable:
            self.init(.badGateway, .proxyInternalError, "the request cannot be sent by HTTP/2")
        case .reset(let reason):
            self.init(.badGateway, .connectionTerminated, "\(peer) ended the request without an answer (\(reason))")
        }
    }
}
