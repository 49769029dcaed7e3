extension ExchangeFailure {
    /// The failure of an internal request that took this way, as a sentence for the request that waits for it.
    public func sentence(by way: UpstreamPath) -> String {
        switch self {
        case .refused(let refusal): refusal.sentence
        case .upstreamFailed(let failure): Refusal(failure, of: way.relay?.origin.title ?? "the origin").sentence
        case .handshakeFailed(_, let sentence), .cutShort(_, let sentence): sentence
        case .clientLost: "the client is gone"
        case .needsHTTP11: "the client must ask by HTTP/1.1"
        }
    }
}
